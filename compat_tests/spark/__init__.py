"""Spark Structured Streaming with its own Kafka connector."""

VERSION = "4.0.0"
CONNECTOR = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{VERSION}"
