"""Counts per key and window of event time, kept up to date in a compacted topic."""
