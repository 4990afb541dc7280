"""The same requests to Apache Kafka and to kbroker, and what they answer differently.

answers      an answer as a flat table, without what two brokers cannot share
run          Run: one broker, asked step by step
steps/       the steps, one module per group of APIs
script       all of them in order
comparison   differences, explained and not
explained    the table of differences that are meant, each with its reason
"""
