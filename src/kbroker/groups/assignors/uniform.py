"""The uniform assignor: every member gets as many partitions as the others, or one more.

It is sticky: a partition leaves its owner only if the owner does not subscribe to
it any more, or has too many. When all members subscribe to the same topics, the
quotas are known beforehand and one pass over the partitions is enough. Otherwise
partitions move from the busiest to the idlest subscriber of a topic until no move
helps.
"""

from collections.abc import Iterator, Mapping

from kbroker.groups.assignors.spec import MemberSpec, Partition, Partitions
from kbroker.model import Uuid

# How often all topics are gone through to level loads. Subscriptions that overlap in a chain can
# pass partitions along it one step per round; Kafka stops after as many, content with "almost".
_MOST_ROUNDS = 16


def assign_uniform(
    members: Mapping[str, MemberSpec], partition_counts: Mapping[Uuid, int]
) -> dict[str, Partitions]:
    """Spread the partitions evenly over their subscribers, moving as few as possible."""
    kept, free = _kept(members, partition_counts)
    if len({member.topics for member in members.values()}) <= 1:
        _fill_quotas(kept, free)
    else:
        _place_free(members, kept, free)
        _level(members, kept)
    return {member_id: frozenset(partitions) for member_id, partitions in kept.items()}


def _kept(
    members: Mapping[str, MemberSpec], partition_counts: Mapping[Uuid, int]
) -> tuple[dict[str, set[Partition]], list[Partition]]:
    """What each member owns and may keep, and what nobody does, both in a fixed order."""
    kept: dict[str, set[Partition]] = {}
    taken: set[Partition] = set()
    for member_id in sorted(members):
        member = members[member_id]
        kept[member_id] = {
            (topic_id, partition)
            for topic_id, partition in member.owned - taken
            if topic_id in member.topics and partition < partition_counts.get(topic_id, 0)
        }
        taken |= kept[member_id]
    subscribed = frozenset().union(*(member.topics for member in members.values()))
    free = [
        (topic_id, partition)
        for topic_id in sorted(subscribed)
        for partition in range(partition_counts.get(topic_id, 0))
        if (topic_id, partition) not in taken
    ]
    return kept, free


def _fill_quotas(kept: dict[str, set[Partition]], free: list[Partition]) -> None:
    """Bring every member to its quota, when every member may have every partition."""
    if not kept:
        return
    total = sum(len(owned) for owned in kept.values()) + len(free)
    quota, extra = divmod(total, len(kept))
    # Whoever owns most gets the places that are larger by one: that saves a move.
    by_load = sorted(kept, key=lambda member_id: -len(kept[member_id]))
    quotas = {member: quota + (rank < extra) for rank, member in enumerate(by_load)}
    for member_id, owned in kept.items():
        for partition in sorted(owned)[quotas[member_id] :]:
            owned.discard(partition)
            free.append(partition)
    remaining = iter(free)
    for member_id, owned in kept.items():
        while len(owned) < quotas[member_id]:
            owned.add(next(remaining))


def _place_free(
    members: Mapping[str, MemberSpec], kept: dict[str, set[Partition]], free: list[Partition]
) -> None:
    """Give each free partition to the subscriber with the fewest."""
    subscribers = _subscribers(members)
    # Those with little choice first: the others can then make up for them.
    free.sort(key=lambda partition: (len(subscribers[partition[0]]), partition))
    for partition in free:
        member_id = min(subscribers[partition[0]], key=lambda member: (len(kept[member]), member))
        kept[member_id].add(partition)


def _level(members: Mapping[str, MemberSpec], kept: dict[str, set[Partition]]) -> None:
    """Move partitions from busy to idle subscribers, as long as that evens out the two."""
    subscribers = _subscribers(members)
    rounds, moved = 0, True
    while moved and rounds < _MOST_ROUNDS:
        rounds, moved = rounds + 1, False
        for topic_id in sorted(subscribers):
            for busy, idle in _uneven(topic_id, subscribers[topic_id], kept):
                partition = max(owned for owned in kept[busy] if owned[0] == topic_id)
                kept[busy].discard(partition)
                kept[idle].add(partition)
                moved = True


def _uneven(
    topic_id: Uuid, subscribers: list[str], kept: dict[str, set[Partition]]
) -> Iterator[tuple[str, str]]:
    """Pairs of a giver and a taker of one partition of a topic, until no such move helps."""
    while True:
        givers = (
            member
            for member in subscribers
            if any(partition[0] == topic_id for partition in kept[member])
        )
        busy = max(givers, key=lambda member: (len(kept[member]), member), default=None)
        idle = min(subscribers, key=lambda member: (len(kept[member]), member))
        if busy is None or len(kept[busy]) - len(kept[idle]) < 2:
            return
        yield busy, idle


def _subscribers(members: Mapping[str, MemberSpec]) -> dict[Uuid, list[str]]:
    subscribers: dict[Uuid, list[str]] = {}
    for member_id in sorted(members):
        for topic_id in members[member_id].topics:
            subscribers.setdefault(topic_id, []).append(member_id)
    return subscribers
