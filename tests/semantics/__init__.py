"""Flink's rules as cases: what goes in, step by step, and everything that must come out."""
