"""Transactions with every client that has them, and with Kafka's own tools and Streams."""
