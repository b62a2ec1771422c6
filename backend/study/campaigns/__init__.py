"""Campaigns of the studies: which there are, how they run, and what is kept of them."""
