"""Spark beside Apache Kafka: rows per second of its Kafka source and sink, in batch and streaming.

workloads   what Spark does to a broker, each a function that gives a number of rows
"""
