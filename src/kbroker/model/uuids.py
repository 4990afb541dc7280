"""Kafka's UUIDs: sixteen bytes on the wire, 22 characters of URL-safe base64 for people.

They stay bytes inside the broker. A topic id is compared and looked up far more often than it is
shown, and ``uuid.UUID`` costs a microsecond to build.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NewType

Uuid = NewType("Uuid", bytes)

# "No id": what requests carry when they name a topic by its name.
ZERO_UUID = Uuid(bytes(16))


def uuid_to_text(uuid: Uuid) -> str:
    """The text Kafka's tools show: base64 without padding."""
    return urlsafe_b64encode(uuid).rstrip(b"=").decode("ascii")


def uuid_from_text(text: str) -> Uuid:
    """The uuid that `uuid_to_text` shows as ``text``; ValueError if there is none."""
    try:
        raw = urlsafe_b64decode(text + "==")
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{text!r} is not a base64 uuid") from error
    if len(raw) != 16 or uuid_to_text(Uuid(raw)) != text:
        raise ValueError(f"{text!r} is not a base64 uuid of 16 bytes")
    return Uuid(raw)
