"""Who sends a request, as far as groups care."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """The client behind a request, and the version of the API it speaks."""

    client_id: str
    client_host: str
    """The address as Kafka shows it, with a slash before it: ``/127.0.0.1``."""
    api_version: int
