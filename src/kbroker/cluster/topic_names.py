"""Which names a topic may have: Kafka's ``Topic.validate``, and the names of internal topics."""

import re
from collections.abc import Mapping, Set
from typing import ClassVar

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
# Kafka's own metadata log. We have none, but nobody may take its name.
CLUSTER_METADATA = "__cluster_metadata"

INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})

# A directory is called <topic>-<partition>.<32 hex digits>-delete at its longest, and file names
# end at 255 bytes; Kafka allows 249 for the name and a partition number of five digits.
MAX_NAME_LENGTH = 249

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)


class InvalidTopicName(Exception):  # noqa: N818 - "raise InvalidTopicName" says it all
    """A name that no topic may have; the words are those of Kafka's clients."""

    kafka_error: ClassVar[str] = "INVALID_TOPIC_EXCEPTION"


def is_internal(name: str) -> bool:
    """Whether the broker itself owns this topic."""
    return name in INTERNAL_TOPICS


def validate_topic_name(name: str) -> None:
    """Raise InvalidTopicName unless a topic may be called so."""
    reason = _what_is_wrong(name)
    if reason is not None:
        raise InvalidTopicName(f"Topic name is invalid: {reason}")


def _what_is_wrong(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in {".", ".."}:
        return f"'{name}' is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if _LEGAL.fullmatch(name) is None:
        return (
            f"'{name}' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'"
        )
    return None


def has_collision_characters(name: str) -> bool:
    """Whether a different topic name could look the same in the name of a metric."""
    return "." in name or "_" in name


def unified(name: str) -> str:
    """The name with '.' and '_' made equal; names that collide have the same one."""
    return name.replace(".", "_")


def check_collision(name: str, unified_names: Mapping[str, Set[str]]) -> None:
    """Raise InvalidTopicName if a topic in ``unified_names`` collides with ``name``."""
    if not has_collision_characters(name):
        return
    existing = unified_names.get(unified(name))
    if existing:
        raise InvalidTopicName(f"Topic '{name}' collides with existing topic: {min(existing)}")
