"""What has configs: the kinds of resources, and which names they may have in a request.

A name is refused with ConfigRequestError and Kafka's words, which differ between
asking and changing. Whether a topic exists is for the caller to know.
"""

import re
from enum import IntEnum
from typing import Final

from kbroker.config.errors import ConfigRequestError


class ResourceType(IntEnum):
    """The kind of a resource, with its number in the protocol."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


_NODE_ID: Final = re.compile(r"[+-]?[0-9]{1,10}")


def check_described(resource_type: int, name: str, node_id: int) -> None:
    """Refuse a resource that the broker ``node_id`` cannot describe."""
    match resource_type:
        case ResourceType.TOPIC:
            return
        case ResourceType.BROKER:
            if name and _as_node_id(name, "Broker") != node_id:
                raise ConfigRequestError(
                    f"Unexpected broker id, expected {node_id} or empty string, but received {name}"
                )
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise ConfigRequestError("Broker id must not be empty")
            if _as_node_id(name, "Broker") != node_id:
                raise ConfigRequestError(
                    f"Unexpected broker id, expected {node_id} but received {name}"
                )
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise ConfigRequestError("Client metrics subscription name must not be empty")
        case ResourceType.GROUP:
            if not name:
                raise ConfigRequestError("Group name must not be empty")
        case _:
            raise ConfigRequestError(f"Unsupported resource type: {resource_type}")


def check_altered(resource_type: int, name: str, node_id: int) -> None:
    """Refuse a resource that cannot be changed through the broker ``node_id``."""
    match resource_type:
        case ResourceType.TOPIC:
            if not name:
                raise ConfigRequestError("Default topic resources are not allowed.")
        case ResourceType.BROKER:
            if name and _as_node_id(name, "Node") != node_id:
                raise ConfigRequestError(
                    f"Unexpected broker id, expected {node_id}, but received {name}"
                )
        case ResourceType.BROKER_LOGGER:
            if _as_node_id(name, "Node") != node_id:
                raise ConfigRequestError(
                    f"Unexpected node id. Expected {node_id}, but received {name}"
                )
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise ConfigRequestError("Subscription name can't be empty")
        case ResourceType.GROUP:
            if not name:
                raise ConfigRequestError("Default group resources are not allowed.")
        case _:
            raise ConfigRequestError(f"Unknown resource type {resource_type}")


def _as_node_id(name: str, what: str) -> int:
    if _NODE_ID.fullmatch(name) is None:
        raise ConfigRequestError(f"{what} id must be an integer, but it is: {name}")
    return int(name)
