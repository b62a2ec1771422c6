"""Views of campaigns and runs: each module reads, and answers in types of its own that are encoded once."""
