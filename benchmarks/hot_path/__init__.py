"""The hot path beside Apache Kafka: Kafka's own perf tools drive both brokers in one run.

brokers    the two, as processes whose CPU and memory can be read
workloads  what is sent and fetched, and what comes out
"""
