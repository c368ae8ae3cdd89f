"""The cards by topic; each module is data with a list ``CARDS``."""
