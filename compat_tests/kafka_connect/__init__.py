"""Kafka Connect in distributed mode: a file to a topic to a file."""
