"""Celery only: ids in, open a unit, call one action."""
