"""How long kbroker takes to read and write messages, beside kafka-python and kio."""
