"""Runs, from their place in a plan to their end."""
