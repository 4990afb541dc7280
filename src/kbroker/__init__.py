"""kbroker: a Kafka broker in Python."""
