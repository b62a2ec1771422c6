"""HTTP itself: bodies, headers, limits, problems and streams, for every route."""
