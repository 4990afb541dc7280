"""aiokafka: the client of asyncio programs."""

VERSION = "0.14.0"
OLDER_VERSION = "0.10.0"
