"""Kafka Streams: a word count with a repartition topic and a changelog topic."""
