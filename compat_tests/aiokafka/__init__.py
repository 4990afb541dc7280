"""aiokafka: the client of asyncio programs."""

VERSION = "0.14.0"
