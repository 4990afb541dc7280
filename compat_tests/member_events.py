"""What the members of a group tell about themselves, and what must hold for all they told.

Members are programs. Each prints one JSON object per line, in the words of Kafka's own
VerifiableConsumer, which is therefore a member without any change:

    partitions_assigned  partitions that it owns from now on, besides those it has
    partitions_revoked   partitions that it does not own any more
    records_consumed     the first and last offset of what one poll gave, for each partition
    offsets_committed    offsets that the coordinator confirmed

Every event has a ``timestamp`` of the same clock, in milliseconds. All members run on one machine,
so their times can be compared.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

ASSIGNED = "partitions_assigned"
REVOKED = "partitions_revoked"
CONSUMED = "records_consumed"
COMMITTED = "offsets_committed"


def tell(name: str, **fields: object) -> None:
    """Print an event, for members that are written in Python."""
    event = {"timestamp": int(time.time() * 1000), "name": name, **fields}
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def tell_partitions(name: str, topic: str, partitions: Iterable[int]) -> None:
    tell(name, partitions=[{"topic": topic, "partition": number} for number in partitions])


def tell_consumed(topic: str, partition: int, offsets: Sequence[int]) -> None:
    span = {"minOffset": offsets[0], "maxOffset": offsets[-1], "count": len(offsets)}
    tell(
        CONSUMED,
        count=len(offsets),
        partitions=[{"topic": topic, "partition": partition, **span}],
    )


def tell_committed(topic: str, offsets: dict[int, int]) -> None:
    told = [
        {"topic": topic, "partition": number, "offset": offset}
        for number, offset in offsets.items()
    ]
    tell(COMMITTED, offsets=told, success=True)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a member."""

    at_ms: int
    name: str
    partitions: tuple[int, ...] = ()
    # partition -> (first offset, last offset), or partition -> committed offset
    consumed: dict[int, tuple[int, int]] = field(default_factory=dict)
    committed: dict[int, int] = field(default_factory=dict)


def parse(line: str) -> Event | None:
    """The event of a line; None for what is no concern of ours."""
    told = json.loads(line)
    name, at_ms = told["name"], told["timestamp"]
    if name in (ASSIGNED, REVOKED):
        return Event(at_ms, name, tuple(each["partition"] for each in told["partitions"]))
    if name == CONSUMED:
        spans = {each["partition"]: _span(each) for each in told["partitions"]}
        return Event(at_ms, name, consumed=spans)
    if name == COMMITTED and told["success"]:
        offsets = {each["partition"]: each["offset"] for each in told["offsets"]}
        return Event(at_ms, name, committed=offsets)
    return None


def _span(told: dict[str, int]) -> tuple[int, int]:
    first, last = told["minOffset"], told["maxOffset"]
    assert last - first + 1 == told["count"], f"records are missing in between: {told}"
    return first, last


@dataclass
class Life:
    """One member from its beginning to its end; an end of None is one that still lives."""

    name: str
    events: list[Event] = field(default_factory=list)
    ended_at_ms: int | None = None

    @property
    def owned(self) -> frozenset[int]:
        """The partitions that are its own, by its last word."""
        owned: set[int] = set()
        for event in list(self.events):
            if event.name == ASSIGNED:
                owned.update(event.partitions)
            elif event.name == REVOKED:
                owned.difference_update(event.partitions)
        return frozenset(owned) if self.ended_at_ms is None else frozenset()

    @property
    def rebalances(self) -> int:
        """How often partitions came or went."""
        return sum(1 for event in list(self.events) if event.partitions)

    def ownerships(self) -> list[tuple[int, int, int]]:
        """Each partition with the times between which it was owned; those without end last."""
        since: dict[int, int] = {}
        found = []
        for event in self.events:
            if event.name == ASSIGNED:
                for partition in event.partitions:
                    since.setdefault(partition, event.at_ms)
            elif event.name == REVOKED:
                found += [
                    (partition, since.pop(partition), event.at_ms)
                    for partition in event.partitions
                    if partition in since
                ]
        end = self.ended_at_ms if self.ended_at_ms is not None else sys.maxsize
        return found + [(partition, begin, end) for partition, begin in since.items()]


def consumed_offsets(lives: Iterable[Life]) -> dict[int, list[int]]:
    """All offsets that were read in each partition, sorted; one read twice is there twice."""
    found: dict[int, list[int]] = defaultdict(list)
    for life in lives:
        for event in list(life.events):
            for partition, (first, last) in event.consumed.items():
                found[partition] += range(first, last + 1)
    return {partition: sorted(offsets) for partition, offsets in found.items()}


def committed_offsets(lives: Iterable[Life]) -> dict[int, int]:
    """The highest offset that was confirmed for each partition."""
    found: dict[int, int] = {}
    for life in lives:
        for event in list(life.events):
            for partition, offset in event.committed.items():
                found[partition] = max(offset, found.get(partition, 0))
    return found


def shared_ownerships(lives: Sequence[Life]) -> list[str]:
    """Every partition that had two owners at one time."""
    found = []
    spans = sorted(
        (partition, begin, end, life.name)
        for life in lives
        for partition, begin, end in life.ownerships()
    )
    for (partition, _, end, first), (other, begin, _, second) in pairwise(spans):
        if partition == other and begin < end:
            found.append(f"partition {partition}: {first} until {end}, {second} from {begin} on")
    return found


def regressions(lives: Iterable[Life]) -> list[str]:
    """Every commit that went back behind an earlier one."""
    commits = sorted(
        (event.at_ms, partition, offset)
        for life in lives
        for event in life.events
        for partition, offset in event.committed.items()
    )
    last: dict[int, int] = {}
    found = []
    for _, partition, offset in commits:
        if offset < last.get(partition, 0):
            found.append(f"partition {partition}: {offset} after {last[partition]}")
        last[partition] = offset
    return found
