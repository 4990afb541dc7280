"""Spark Structured Streaming with its own Kafka connector."""

VERSION = "4.0.0"
