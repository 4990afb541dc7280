"""confluent-kafka, which is librdkafka: the client under most programs that are not Java."""

VERSION = "2.16.1"
OLDER_VERSION = "2.3.0"
