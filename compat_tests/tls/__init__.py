"""Clients and tools that encrypt: librdkafka and Kafka's own, with PEM on both sides."""
