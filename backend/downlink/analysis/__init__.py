"""Analysis of samples. Arrays in, small frozen results out: no clock, no I/O, no identifiers that steer anything.

Definitions and formulas: `docs/method.md`. Missing values are NaN inside and null outside, never zero.
"""

ANALYSIS_VERSION = "7"
"""Rises whenever the same traces would give other numbers."""
