"""kafka-python: a client in pure Python that writes its own protocol code."""

VERSION = "3.0.12"
OLDER_VERSION = "2.0.2"
