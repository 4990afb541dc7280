"""Proof of a topic: offsets, order, duplicates, checksums and the lag of a group."""
