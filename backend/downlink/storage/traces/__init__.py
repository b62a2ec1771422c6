"""Traces: samples as they come and as they are kept."""
