"""Satellites and stations in, a path over time out: orbits, visibility, routes, radio, knots (docs/paths.md). Pure: no clock, no files."""
