"""Links, their observations, paths and weather."""
