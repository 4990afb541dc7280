"""What the members of a consumer group subscribe to, and what of it exists.

A member subscribes to names, to a regular expression, or to both. An expression
is resolved once for the whole group and kept in a record, so that a new
coordinator finds the same topics, and it is resolved again when topics come and
go. The topics a group subscribes to, with their ids and sizes, make up a hash; as
long as the hash is the same, nothing about them concerns the group.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from kbroker.groups.refused import RefusedError
from kbroker.groups.regex import InvalidRegexError, Regex
from kbroker.wire import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kbroker.groups.consumer_members import ConsumerMember
    from kbroker.groups.topics_view import TopicsView
    from kbroker.model import Uuid


@dataclass(frozen=True, slots=True)
class ResolvedRegex:
    """The topics that an expression stood for when it was last looked at."""

    topics: frozenset[str]
    revision: int
    """The revision of the topics at that time."""
    timestamp_ms: int


class TopicMatches:
    """The topics that fit an expression; each is looked for once per revision of the topics.

    Many members, and many groups, subscribe to the same few expressions. What is kept here is
    bounded by the expressions that were subscribed to since topics last changed.
    """

    def __init__(self, topics: TopicsView) -> None:
        self.topics = topics
        self._revision = topics.revision
        self._known: dict[str, frozenset[str]] = {}

    def resolve(self, regex: str, now_ms: int) -> ResolvedRegex:
        """The topics whose whole name fits ``regex``, which must be one."""
        if self._revision != self.topics.revision:
            self._known.clear()
            self._revision = self.topics.revision
        found = self._known.get(regex)
        if found is None:
            found = frozenset(filter(Regex(regex).matches, self.topics.names()))
            self._known[regex] = found
        return ResolvedRegex(found, self._revision, now_ms)


def check_regex(regex: str) -> None:
    """`RefusedError` unless ``regex`` is a regular expression."""
    try:
        Regex(regex)
    except InvalidRegexError as error:
        raise RefusedError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}.",
        ) from error


def subscribed_names(
    member: ConsumerMember, resolved: Mapping[str, ResolvedRegex]
) -> frozenset[str]:
    """All topics a member subscribes to, existing or not."""
    if not member.topic_regex:
        return member.topic_names
    return member.topic_names | resolved[member.topic_regex].topics


def group_names(
    members: Iterable[ConsumerMember], resolved: Mapping[str, ResolvedRegex]
) -> frozenset[str]:
    """All topics any of the members subscribes to."""
    return frozenset().union(*(subscribed_names(member, resolved) for member in members))


def topic_ids(names: Iterable[str], topics: TopicsView) -> frozenset[Uuid]:
    """The ids of those topics that exist."""
    return frozenset(found for name in names if (found := topics.topic_id(name)) is not None)


def partition_counts(names: Iterable[str], topics: TopicsView) -> dict[Uuid, int]:
    """The sizes of those topics that exist, under their ids."""
    counts = {}
    for name in names:
        topic_id, count = topics.topic_id(name), topics.partition_count(name)
        if topic_id is not None and count is not None:
            counts[topic_id] = count
    return counts


def metadata_hash(names: Iterable[str], topics: TopicsView) -> int:
    """A number that changes when a topic comes, goes, is made anew or grows; 0 if there is none.

    Kafka's own hash is another one. After a move of the log between the two the first look at the
    topics finds a difference, and the group gets a new epoch without need, once.
    """
    digest = blake2b(digest_size=8)
    empty = True
    for name in sorted(names):
        topic_id, count = topics.topic_id(name), topics.partition_count(name)
        if topic_id is not None and count is not None:
            digest.update(topic_id + count.to_bytes(4) + name.encode() + b"\0")
            empty = False
    return 0 if empty else int.from_bytes(digest.digest(), signed=True)
