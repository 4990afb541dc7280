"""Kafka's own Java clients: the newest, the broker's, the last of 3.x, the oldest still served."""

VERSIONS = ("4.4.0", "4.3.1", "3.9.2", "2.8.2")
