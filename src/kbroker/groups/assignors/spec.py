"""What an assignor is given, and what it gives back.

Assignors are plain functions without memory: the members with what they
subscribe to and were told to read so far, and the sizes of the topics, make the
answer, always the same one. Partitions of topics that are gone may still stand
in ``owned``; an assignor drops them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kbroker.model import Uuid

# A partition by the id of its topic: a topic made anew under an old name is another one.
Partition: TypeAlias = tuple[Uuid, int]
Partitions: TypeAlias = frozenset[Partition]


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """One member as an assignor sees it."""

    instance_id: str | None
    """The name of a static member, which stays when its member id changes."""
    topics: frozenset[Uuid]
    """The existing topics it subscribes to."""
    owned: Partitions
    """What the last target assignment gave it."""


# Takes the members and the number of partitions of every topic they subscribe to.
Assignor: TypeAlias = Callable[
    [Mapping[str, MemberSpec], Mapping[Uuid, int]], dict[str, Partitions]
]
