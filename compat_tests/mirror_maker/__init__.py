"""MirrorMaker 2 between an Apache Kafka and the broker under test."""
