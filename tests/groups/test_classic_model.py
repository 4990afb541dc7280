"""Classic groups under whatever members, clocks and failovers do, against what must always hold.

The members are honest clients that lose answers, restart, stall and leave at any time; their
leader hands out the partitions 0-5, each once. What must hold:

* a partition has one owner per generation (G4)
* a generation that somebody was told is never told again with other members
* a member that works in an older generation cannot commit (G5)
* what was committed is what is fetched, whatever failed over in between (G9)
* nobody waits for ever
* the log alone gives the same group again
"""

from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from kbroker.groups import decode_record
from kbroker.wire import ErrorCode
from kbroker.wire.messages.group_metadata_record import GroupMetadataValue
from kbroker.wire.messages.join_group import JoinGroupResponse
from kbroker.wire.messages.sync_group import SyncGroupResponse
from tests.groups.bench import Bench, subscription

if TYPE_CHECKING:
    from kbroker.machine import Ticket

NAMES = st.sampled_from("abcd")
PARTITIONS = range(6)

# Longer than everything that can delay an answer: three rebalances and a lost new member.
FOR_EVER_S = 3 * 60 + 5 * 60 + 60


class Client:
    """A member as it sees itself; "c" and "d" are static."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.instance = name if name in "cd" else None
        self.forget()

    def forget(self) -> None:
        """Be a new process."""
        self.member_id = ""
        self.join: Ticket | None = None
        self.sync: Ticket | None = None
        self.must_join()

    def must_join(self) -> None:
        """Own nothing until there is a new generation."""
        self.generation = -1
        self.owned: set[int] = set()
        self.to_assign: list[str] | None = None
        self.has_synced = False


class ClassicGroupMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        # A group without offsets that is looked at while it is empty would start over from 0.
        self.bench = Bench(offsets_retention_check_interval_ms=10**12)
        self.clients = {name: Client(name) for name in "abcd"}
        # By generation and partition. An assignment is answered only after it was written, so a
        # failover cannot hand out the same generation twice.
        self.owners: dict[tuple[int, int], str] = {}
        self.highest_written = 0
        self.generations: list[int] = []  # those in the log, as far as it was decoded
        self.decoded = 0
        self.compared = 0
        self.read = 100
        self.committed: dict[tuple[str, int], int] = {}

    # --- members -----------------------------------------------------------------------

    @rule(name=NAMES, topic=st.sampled_from(["orders", "bills"]))
    def joins(self, name: str, topic: str) -> None:
        client = self.clients[name]
        client.sync = None
        client.join = self.bench.join(
            client.member_id,
            instance=client.instance,
            protocols=[("range", subscription(topic)), ("sticky", subscription(topic))],
            client=name,
        )
        self.read_answers()

    @rule(name=NAMES)
    def syncs(self, name: str) -> None:
        client = self.clients[name]
        if client.generation < 0:
            return
        assignments: dict[str, bytes] = {}
        for partition in PARTITIONS if client.to_assign else ():
            taker = client.to_assign[partition % len(client.to_assign)]
            assignments[taker] = assignments.get(taker, b"") + bytes([partition])
        client.sync = self.bench.sync(
            client.member_id,
            client.generation,
            assignments,
            instance=client.instance,
            version=4,
            protocol_name=None,
            protocol_type=None,
        )
        self.read_answers()

    @rule(name=NAMES)
    def sends_a_heartbeat(self, name: str) -> None:
        client = self.clients[name]
        code = self.bench.heartbeat(client.member_id, client.generation, instance=client.instance)
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            client.forget()
        elif code != ErrorCode.NONE:
            client.must_join()
        self.read_answers()

    @rule(name=NAMES)
    def leaves(self, name: str) -> None:
        client = self.clients[name]
        self.bench.leave(client.member_id)
        self.read_answers()
        client.forget()

    @rule(name=NAMES)
    def restarts(self, name: str) -> None:
        self.clients[name].forget()

    @rule(name=NAMES, offset=st.integers(0, 99))
    def commits_what_it_owns(self, name: str, offset: int) -> None:
        client = self.clients[name]
        for partition in client.owned:
            code = self.bench.commit(
                {("orders", partition): offset},
                member_id=client.member_id,
                generation=client.generation,
                instance=client.instance,
            )
            if code == ErrorCode.NONE:
                assert self.owners[client.generation, partition] == client.member_id
                assert client.generation == self.written_generations()[-1], "a zombie (G5)"
                self.committed["orders", partition] = offset

    @rule(name=NAMES)
    def does_its_work(self, name: str) -> None:
        """The next step of a client to which nothing bad happens."""
        client = self.clients[name]
        if client.join is not None or client.sync is not None:
            return
        if client.generation < 0:
            self.joins(name, "orders")
        elif not client.has_synced:
            self.syncs(name)
        else:
            self.read += 1
            self.commits_what_it_owns(name, self.read)
            self.sends_a_heartbeat(name)

    @initialize(names=st.sets(NAMES, min_size=2))
    def the_group_is_at_work(self, names: set[str]) -> None:
        self.all_is_well_for_a_while(names)

    @rule(names=st.sets(NAMES, min_size=1))
    def all_is_well_for_a_while(self, names: set[str]) -> None:
        for _ in range(6):
            for name in sorted(names):
                self.does_its_work(name)
            self.bench.wait(2)
            self.read_answers()

    # --- the world -----------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.5, 3, 6, 9, 11, 61]))
    def time_passes(self, seconds: float) -> None:
        self.bench.wait(seconds)
        self.read_answers()

    @rule()
    def the_coordinator_fails_over(self) -> None:
        self.bench.restart()
        for client in self.clients.values():
            client.join = client.sync = None

    @precondition(lambda self: self.bench.parked)
    @rule()
    def nobody_waits_for_ever(self) -> None:
        self.bench.wait(FOR_EVER_S)
        self.read_answers()
        assert self.bench.parked == set()

    # --- what clients do with answers -----------------------------------------------------

    def read_answers(self) -> None:
        for client in self.clients.values():
            if client.join in self.bench.answers:
                answer = self.bench.answers[client.join]
                client.join = None
                assert isinstance(answer, JoinGroupResponse)
                self.read_join(client, answer)
            if client.sync in self.bench.answers:
                answer = self.bench.answers[client.sync]
                client.sync = None
                assert isinstance(answer, SyncGroupResponse)
                self.read_sync(client, answer)

    def read_join(self, client: Client, answer: JoinGroupResponse) -> None:
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            client.member_id = answer.member_id
        elif answer.error_code == ErrorCode.NONE:
            assert answer.generation_id >= self.highest_written
            client.member_id = answer.member_id
            client.generation = answer.generation_id
            client.owned = set()
            client.has_synced = False
            leads = answer.leader == answer.member_id and not answer.skip_assignment
            client.to_assign = [each.member_id for each in answer.members] if leads else None
        else:
            assert answer.error_code in (
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.FENCED_INSTANCE_ID,
                ErrorCode.REBALANCE_IN_PROGRESS,
            )
            if answer.error_code != ErrorCode.REBALANCE_IN_PROGRESS:
                client.forget()

    def read_sync(self, client: Client, answer: SyncGroupResponse) -> None:
        if answer.error_code != ErrorCode.NONE:
            assert answer.error_code in (
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.FENCED_INSTANCE_ID,
                ErrorCode.ILLEGAL_GENERATION,
                ErrorCode.REBALANCE_IN_PROGRESS,
            )
            client.must_join()
            return
        client.has_synced = True
        client.owned = set(answer.assignment)
        for partition in client.owned:
            key = (client.generation, partition)
            # A static member keeps what it had under its old id.
            owner = self.owners.setdefault(key, client.member_id)
            assert self.same_place(owner, client.member_id), "one owner per generation (G4)"
            self.owners[key] = client.member_id

    @staticmethod
    def same_place(first: str, second: str) -> bool:
        return first == second or (first[0] == second[0] and first[0] in "cd")

    # --- what always holds -----------------------------------------------------------------

    def written_generations(self) -> list[int]:
        for key, value in self.bench.log[self.decoded :]:
            record = decode_record(key, value)
            if record is not None and isinstance(record.value, GroupMetadataValue):
                self.generations.append(record.value.generation)
        self.decoded = len(self.bench.log)
        return self.generations

    @invariant()
    def written_generations_grow(self) -> None:
        generations = self.written_generations()
        assert generations == sorted(generations)
        self.highest_written = max(generations, default=0)

    @invariant()
    def what_was_committed_is_fetched(self) -> None:
        assert self.bench.fetched() == self.committed

    @invariant()
    def the_log_alone_gives_the_same_group(self) -> None:
        if self.bench.state() != "Stable" or self.compared == len(self.bench.log):
            return
        self.compared = len(self.bench.log)
        other = Bench()
        other.now, other.log = self.bench.now, list(self.bench.log)
        other.restart()
        assert sorted(other.describe().members, key=str) == sorted(
            self.bench.describe().members, key=str
        )


ClassicGroupMachine.TestCase.settings = settings(
    max_examples=50, stateful_step_count=30, deadline=None
)
TestClassicGroup = ClassicGroupMachine.TestCase
