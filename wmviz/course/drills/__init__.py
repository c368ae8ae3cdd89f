"""Endless fresh tasks, with answers from the engine."""
