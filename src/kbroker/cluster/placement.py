"""On which brokers the replicas of new partitions go.

In the spirit of Kafka's StripedReplicaPlacer: racks come first, a partition has at most one
replica more in one rack than in another; leaders go round all brokers; and each time round, the
followers are shifted by one, so that the partitions of a broker that dies find new leaders on
many others. Kafka shuffles between the rounds; we shift, and the only die, ``start``, is an
argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest


@dataclass(frozen=True, slots=True)
class PlacementBroker:
    """A broker that replicas may be placed on."""

    node_id: int
    rack: str | None = None


class CannotPlace(Exception):  # noqa: N818 - "raise CannotPlace" says it all
    """There are too few brokers; the words are Kafka's, for INVALID_REPLICATION_FACTOR."""


def place_replicas(
    brokers: Sequence[PlacementBroker], *, partitions: int, replication_factor: int, start: int
) -> list[tuple[int, ...]]:
    """The replicas of each of ``partitions`` new partitions, the preferred leader first.

    ``start`` is any number not below 0: where in the stripe of brokers to begin.
    """
    if replication_factor <= 0:
        raise CannotPlace(
            f"Invalid replication factor {replication_factor}: "
            "the replication factor must be positive."
        )
    if not brokers:
        raise CannotPlace("All brokers are currently fenced.")
    if replication_factor > len(brokers):
        raise CannotPlace(
            f"The target replication factor of {replication_factor} cannot be reached "
            f"because only {len(brokers)} broker(s) are registered."
        )
    stripe = _alternate_racks(brokers)
    return [
        _place_one(stripe, start + partition, replication_factor) for partition in range(partitions)
    ]


def _alternate_racks(brokers: Sequence[PlacementBroker]) -> list[PlacementBroker]:
    """First one broker of each rack, then the second of each, and so on."""
    racks: dict[str, list[PlacementBroker]] = {}
    for broker in sorted(brokers, key=lambda broker: broker.node_id):
        racks.setdefault(broker.rack or "", []).append(broker)
    layers = zip_longest(*(racks[name] for name in sorted(racks)))
    return [broker for layer in layers for broker in layer if broker is not None]


def _place_one(
    stripe: Sequence[PlacementBroker], position: int, replication_factor: int
) -> tuple[int, ...]:
    count = len(stripe)
    leader = stripe[position % count]
    shift = position // count
    # The others, starting somewhere else behind the leader each time round.
    others = [
        stripe[(position + 1 + (shift + step) % (count - 1)) % count] for step in range(count - 1)
    ]
    chosen = [leader]
    used = {leader.rack: 1}
    while len(chosen) < replication_factor:
        # min takes the first of the equals: the order of ``others`` decides within a rack.
        follower = min(others, key=lambda broker: used.get(broker.rack, 0))
        others.remove(follower)
        chosen.append(follower)
        used[follower.rack] = used.get(follower.rack, 0) + 1
    return tuple(broker.node_id for broker in chosen)
