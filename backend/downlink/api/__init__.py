"""HTTP only: parse, call one action, shape the answer."""
