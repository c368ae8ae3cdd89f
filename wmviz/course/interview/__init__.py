"""Before an interview: question cards whose numbers come from runs, and a mock interview."""
