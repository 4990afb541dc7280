"""kcat, librdkafka's tool for the shell."""

VERSION = "1.7.1"
