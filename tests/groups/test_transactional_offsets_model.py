"""Any mix of commits, transactions and deletions: a failover changes no offset of a shard.

Whatever producers, members and administrators do, a shard that is loaded from the log must answer
as the one that lived through it, and go on as that one would. The log may have been compacted in
between; the cleaner is told here in a few lines: up to the first offset of an open transaction,
what was aborted goes, and of the rest the last record of each key stays.
"""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.groups.bench import Bench
from tests.groups.test_offsets import delete

# Few of each, so that most steps meet what steps before them left.
GROUPS = st.sampled_from(["g", "g", "g", "h"])
PRODUCERS = st.sampled_from([1_000, 1_001])
PARTITIONS = st.sampled_from([("orders", 0), ("orders", 0), ("orders", 1), ("bills", 0)])


@dataclass(frozen=True)
class Plain:
    group: str
    partition: tuple[str, int]


@dataclass(frozen=True)
class InTransaction:
    producer: int
    group: str
    partition: tuple[str, int]


@dataclass(frozen=True)
class End:
    producer: int
    commit: bool


@dataclass(frozen=True)
class DeleteOffset:
    group: str
    partition: tuple[str, int]


@dataclass(frozen=True)
class DeleteGroup:
    group: str


@dataclass(frozen=True)
class DeleteTopic:
    topic: str


@dataclass(frozen=True)
class Wait:
    """Long enough for some offsets to expire, not for all."""


STEPS = st.lists(
    st.one_of(
        st.builds(Plain, GROUPS, PARTITIONS),
        st.builds(Plain, GROUPS, PARTITIONS),
        st.builds(InTransaction, PRODUCERS, GROUPS, PARTITIONS),
        st.builds(InTransaction, PRODUCERS, GROUPS, PARTITIONS),
        st.builds(End, PRODUCERS, st.booleans()),
        st.builds(End, PRODUCERS, st.booleans()),
        st.builds(DeleteOffset, GROUPS, PARTITIONS),
        st.builds(DeleteGroup, GROUPS),
        st.builds(DeleteTopic, st.sampled_from(["orders", "bills"])),
        st.just(Wait()),
    ),
    min_size=6,
    max_size=40,
)


def live(steps: list[object]) -> Bench:
    """A shard that lived through all of it; every commit is of another offset."""
    bench = Bench(offsets_retention_ms=900_000)
    for number, step in enumerate(steps):
        match step:
            case Plain(group, partition):
                bench.commit({partition: number}, group=group)
            case InTransaction(producer, group, partition):
                bench.commit_in_transaction(producer, {partition: number}, group=group)
            case End(producer, commit):
                bench.end(producer, commit=commit)
            case DeleteOffset(group, (topic, partition)):
                delete(bench, topic, partition, group)
            case DeleteGroup(group):
                bench.carry_out(bench.shard.delete_group(group, bench.ticket()))
            case DeleteTopic(topic):
                bench.carry_out(bench.shard.on_topics_deleted({topic}))
            case _:
                bench.wait(600)
    return bench


def loaded(bench: Bench, *, compacted: bool) -> Bench:
    """Another shard, from what the first one wrote."""
    other = Bench(offsets_retention_ms=900_000)
    other.now = bench.now
    kept = cleaned(bench) if compacted else list(range(len(bench.log)))
    for place in range(len(bench.log) + 1):
        if place in bench.markers:
            other.markers.setdefault(len(other.log), []).extend(bench.markers[place])
        if place in kept:
            if place in bench.producers:
                other.producers[len(other.log)] = bench.producers[place]
            other.log.append(bench.log[place])
    other.restart()
    return other


def cleaned(bench: Bench) -> list[int]:
    """The places of the log that a cleaner leaves."""
    aborted: set[int] = set()
    pending: dict[int, list[int]] = {}
    for place in range(len(bench.log) + 1):
        for producer, commit in bench.markers.get(place, ()):
            ended = pending.pop(producer, [])
            aborted.update(() if commit else ended)
        if place in bench.producers:
            pending.setdefault(bench.producers[place], []).append(place)
    first_open = min((place for places in pending.values() for place in places), default=10**9)
    last = {
        key: place
        for place, (key, _) in enumerate(bench.log)
        if place < first_open and place not in aborted
    }
    dirty = [place for place in range(len(bench.log)) if place >= first_open]
    return sorted(last.values()) + dirty


def seen(bench: Bench) -> object:
    """All that anybody can ask about offsets and groups."""
    offsets = {
        (group, stable, topic.name, each.partition_index, each.committed_offset, each.error_code)
        for group in ("g", "h")
        for stable in (True, False)
        for topic in bench.fetch(
            ("orders", 0), ("orders", 1), ("bills", 0), group=group, require_stable=stable
        ).topics
        for each in topic.partitions
    }
    return offsets, {each.group_id for each in bench.shard.list_groups([], [])}


@settings(max_examples=300, deadline=None)
@given(STEPS, st.lists(st.builds(End, PRODUCERS, st.booleans()), max_size=4))
def test_a_failover_changes_nothing_of_what_was_and_of_what_comes(steps, ends):
    """G9, T13, T14."""
    bench = live(steps)
    other = loaded(bench, compacted=False)
    assert seen(other) == seen(bench)

    for end in ends:
        for each in (bench, other):
            each.end(end.producer, commit=end.commit)
    assert seen(other) == seen(bench)


@settings(max_examples=300, deadline=None)
@given(STEPS, st.lists(st.builds(End, PRODUCERS, st.booleans()), max_size=4))
def test_nor_does_a_failover_after_the_log_was_compacted(steps, ends):
    """Only groups in which nothing is left may be forgotten."""
    bench = live(steps)
    other = loaded(bench, compacted=True)
    assert seen(other)[0] == seen(bench)[0]

    for end in ends:
        for each in (bench, other):
            each.end(end.producer, commit=end.commit)
    assert seen(other)[0] == seen(bench)[0]
