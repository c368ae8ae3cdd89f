"""Flink's rules for event time in pure Python: the reference engine.

Every class names the class of Flink 2.3.0 whose rule it follows. The engine needs nothing but the standard library.
"""
