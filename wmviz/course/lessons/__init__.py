"""What each lesson and its exercise sheet ask: one module a lesson, named after the notebook."""
