"""Bytes and texts to plain data and back: chunks, Parquet, CSV, campaign files. The only room with pyarrow, zstandard and yaml."""
