"""The command-line tools of Apache Kafka, which are also its Java clients in everyday use."""

VERSION = "4.3.1"
