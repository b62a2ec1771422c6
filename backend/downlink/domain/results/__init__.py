"""Results: what is computed of runs and shown."""
