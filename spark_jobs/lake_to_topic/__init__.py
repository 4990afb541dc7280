"""Parquet back into a topic: keyed, at a bounded rate, from and until a time."""
