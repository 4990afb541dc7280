"""Consumer groups under anything that members, time and topics can do to them.

Clients join, read, fall silent, come back, lose answers; topics come, grow and go; the
coordinator is loaded anew in between. After every step:

* a partition has one holder (G4), and what a client owns is held for it (G10)
* epochs only grow
* the records say exactly what the group is, all of them or what compaction leaves

and in the end, when those who are left go on sending heartbeats, everybody has what the
target gives it, and all partitions are read: nobody waits for ever.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kbroker.groups.consumer_group import ConsumerGroup, ConsumerGroupState
from kbroker.groups.group_records import decode_record
from kbroker.groups.settings import GroupSettings
from kbroker.groups.subscriptions import group_names
from kbroker.wire import ErrorCode
from tests.groups.consumer_bench import GROUP, Bench, Topics
from tests.groups.consumer_clients import Consumer

TOPICS = ["a", "b", "c"]
SUBSCRIPTIONS = st.lists(st.sampled_from(TOPICS), max_size=3, unique=True)
PLACES = st.integers(0, 3)


def snapshot(group: ConsumerGroup | None) -> object:
    """All that is durable of a group."""
    if group is None:
        return None
    return (
        group.group_epoch,
        group.metadata_hash,
        group.assignment_epoch,
        dict(sorted(group.members.items())),
        dict(sorted(group.targets.items())),
        group.resolved,
        group._holders,
        group._static,
    )


class ConsumerGroupMachine(RuleBasedStateMachine):
    """Four places for consumers, of which two are static; each holds a process or none."""

    def __init__(self) -> None:
        super().__init__()
        self.clients: dict[int, Consumer] = {}
        self.started = 0
        self.epochs: dict[str, int] = {}
        self.group_epoch = 0

    @initialize(counts=st.lists(st.integers(1, 4), min_size=3, max_size=3))
    def begin(self, counts: list[int]) -> None:
        self.bench = Bench(
            Topics(**dict(zip(TOPICS, counts, strict=True))),
            GroupSettings(initial_rebalance_delay_ms=0),
        )

    # --- clients ---------------------------------------------------------------------

    @rule(
        place=PLACES,
        topics=SUBSCRIPTIONS,
        regex=st.sampled_from([None, None, "a|b", "[bc]", "d?"]),
        assignor=st.sampled_from([None, "range", "uniform"]),
    )
    def start(self, place: int, topics: list[str], regex: str | None, assignor: str | None) -> None:
        if place in self.clients:
            return
        self.started += 1
        consumer = Consumer(
            self.bench,
            f"m{self.started}",
            *topics,
            regex=regex,
            instance_id=f"static-{place}" if place < 2 else None,
            assignor=assignor,
        )
        error = consumer.beat()
        if error is ErrorCode.NONE:
            self.clients[place] = consumer
        else:
            # A static process before this one was lost, and did not time out yet.
            assert error is ErrorCode.UNRELEASED_INSTANCE_ID

    @rule(place=PLACES)
    def beat(self, place: int) -> None:
        if place in self.clients:
            self._beat(place)

    @rule(place=PLACES)
    def lose_an_answer(self, place: int) -> None:
        if place in self.clients:
            client = self.clients[place]
            self.bench.heartbeat(client.request(client.epoch))

    @rule(place=PLACES, topics=SUBSCRIPTIONS)
    def subscribe(self, place: int, topics: list[str]) -> None:
        if place in self.clients:
            self.clients[place].topics = topics
            self._beat(place)

    @rule(place=PLACES)
    def leave(self, place: int) -> None:
        client = self.clients.pop(place, None)
        if client is not None:
            client.leave()

    @rule(place=st.integers(0, 1))
    def leave_for_a_while(self, place: int) -> None:
        client = self.clients.pop(place, None)
        if client is not None:
            client.leave(-2)

    @rule(place=PLACES)
    def crash(self, place: int) -> None:
        self.clients.pop(place, None)

    def _beat(self, place: int) -> None:
        client = self.clients[place]
        error = client.beat()
        if error is ErrorCode.FENCED_INSTANCE_ID or error is ErrorCode.UNRELEASED_INSTANCE_ID:
            del self.clients[place]  # another process took its place
        else:
            assert error in (
                ErrorCode.NONE,
                ErrorCode.FENCED_MEMBER_EPOCH,
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.GROUP_ID_NOT_FOUND,
            )
            if error is ErrorCode.GROUP_ID_NOT_FOUND:
                client.epoch, client.owned = 0, set()

    # --- the world around them -------------------------------------------------------------

    @rule(seconds=st.sampled_from([1, 5, 11, 30]))
    def pass_time(self, seconds: int) -> None:
        self.bench.advance(seconds)

    @rule(topic=st.sampled_from([*TOPICS, "d"]), count=st.integers(1, 5))
    def change_topic(self, topic: str, count: int) -> None:
        before = self.bench.topics.partition_count(topic)
        if before is None:
            self.bench.topics.create(topic, count)
        elif count > before:
            self.bench.topics.grow(topic, count)
        else:
            self.bench.topics.delete(topic)
        self.bench.topics_changed()

    @rule(compact=st.booleans())
    def fail_over(self, compact: bool) -> None:
        self.bench.reload(compact=compact)

    # --- what always holds -------------------------------------------------------------------

    @invariant()
    @precondition(lambda self: hasattr(self, "bench"))
    def one_holder_each(self) -> None:
        group = self.bench.groups.get(GROUP)
        if group is None:
            return
        held = [
            partition
            for member in group.members.values()
            for partition in (*member.assigned, *member.pending_revocation)
        ]
        assert len(held) == len(set(held)), "G4: a partition has two holders"
        for client in self.clients.values():
            member = group.members.get(client.member_id)
            if member is not None and client.epoch > 0:
                known = member.assigned.keys() | member.pending_revocation.keys()
                assert client.owned <= known, "G10: a client owns what is not held for it"

    @invariant()
    @precondition(lambda self: hasattr(self, "bench"))
    def epochs_grow(self) -> None:
        group = self.bench.groups.get(GROUP)
        if group is None:
            self.group_epoch, self.epochs = 0, {}
            return
        assert group.group_epoch >= self.group_epoch
        assert group.assignment_epoch <= group.group_epoch
        self.group_epoch = group.group_epoch
        epochs = {name: member.member_epoch for name, member in group.members.items()}
        for name, epoch in epochs.items():
            assert epoch == -2 or epoch >= self.epochs.get(name, 0)
            assert epoch <= group.assignment_epoch
        self.epochs = epochs

    @invariant()
    @precondition(lambda self: hasattr(self, "bench"))
    def records_are_the_group(self) -> None:
        live = snapshot(self.bench.groups.get(GROUP))
        last = dict(self.bench.log)
        for log in (self.bench.log, list(last.items())):
            reader = Bench(self.bench.topics)
            for key, value in log:
                record = decode_record(key, value)
                assert record is not None
                reader._replay(key, value)
            assert snapshot(reader.groups.get(GROUP)) == live

    def teardown(self) -> None:
        """Whoever is left goes on, and everybody gets there."""
        if not self.clients:
            return
        for _ in range(30):
            for place in sorted(self.clients):
                self._beat(place)
            self.bench.advance(3)
        if not self.clients:
            return
        group = self.bench.group()
        assert group.state is ConsumerGroupState.STABLE
        assert group.members.keys() == {each.member_id for each in self.clients.values()}
        read = set()
        for client in self.clients.values():
            assert client.epoch == group.group_epoch or client.epoch == group.assignment_epoch
            assert client.owned == group.target(client.member_id)
            read |= client.reads
        wanted = group_names(group.members.values(), group.resolved)
        assert read == {
            (name, number)
            for name in wanted
            for number in range(self.bench.topics.partition_count(name) or 0)
        }


ConsumerGroupMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None
)
TestConsumerGroups = ConsumerGroupMachine.TestCase
