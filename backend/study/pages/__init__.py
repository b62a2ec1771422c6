"""Pages that are made of the campaigns' tables."""
