"""A topic joined with a compacted reference topic; what finds no match becomes a dead letter."""
