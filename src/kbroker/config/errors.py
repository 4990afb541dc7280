"""The two ways a config can be refused, with the words Kafka's clients show."""

from typing import Self


class ConfigError(Exception):
    """A config that does not exist or cannot have this value; INVALID_CONFIG on the wire."""

    @classmethod
    def of_value(cls, name: str, shown: str, reason: str) -> Self:
        """The error about one value; ``shown`` must not be a secret."""
        return cls(f"Invalid value {shown} for configuration {name}: {reason}")


class ConfigRequestError(ConfigError):
    """A change that was asked for in the wrong way; INVALID_REQUEST on the wire.

    Kafka also answers so, and not with INVALID_CONFIG, when the value of a broker
    config is wrong (KAFKA-13609).
    """
