"""Flink's own classes and ours on the same random steps: they must say the same."""
