"""The study of published measurements: runs its campaigns and writes the pages of docs/reproduction, with downlink as a library."""
