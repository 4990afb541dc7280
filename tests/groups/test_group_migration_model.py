"""A group of members of both protocols, in which anybody comes and goes at any time.

The group changes its kind as the members do. Whatever happens, in a consumer group a
partition has one holder (G4) and nobody owns what is not held for it (G10), the
generation goes on growing over every change of kind, the id belongs to one group, and
those who are left in the end read everything: nobody waits for ever.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kbroker.groups.classic_group import ClassicState
from kbroker.groups.consumer_group import ConsumerGroupState
from kbroker.groups.settings import GroupSettings
from kbroker.wire import ErrorCode
from tests.groups.consumer_bench import GROUP, Bench, Topics
from tests.groups.consumer_clients import ClassicConsumer, Consumer

PLACES = st.integers(0, 3)
ALL = {("orders", number) for number in range(5)}


class MigrationMachine(RuleBasedStateMachine):
    """Four places, the first two static; each holds a client of either protocol, or none."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(Topics(orders=5), GroupSettings(initial_rebalance_delay_ms=0))
        self.clients: dict[int, Consumer | ClassicConsumer] = {}
        self.started = 0
        self.generation = 0

    @initialize(policy=st.sampled_from(["bidirectional", "bidirectional", "upgrade", "downgrade"]))
    def choose_policy(self, policy: str) -> None:
        self.policy = policy
        self.bench.settings = GroupSettings(
            initial_rebalance_delay_ms=0, consumer_migration_policy=policy
        )
        self.bench.groups.configure(self.bench.settings)

    @rule(place=PLACES, is_classic=st.booleans())
    def start(self, place: int, is_classic: bool) -> None:
        if place in self.clients:
            return
        self.started += 1
        instance_id = f"static-{place}" if place < 2 else None
        if is_classic:
            self.clients[place] = ClassicConsumer(self.bench, "orders", instance_id=instance_id)
        else:
            self.clients[place] = Consumer(
                self.bench, f"m{self.started}", "orders", instance_id=instance_id
            )
        self.turn(place)

    @rule(place=PLACES)
    def turn(self, place: int) -> None:
        client = self.clients.get(place)
        if isinstance(client, ClassicConsumer):
            client.turn()
        elif client is not None:
            error = client.beat()
            if error is ErrorCode.GROUP_ID_NOT_FOUND:
                client.epoch, client.owned = 0, set()
            elif error is not ErrorCode.NONE:
                assert error in (
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    ErrorCode.UNKNOWN_MEMBER_ID,
                    ErrorCode.UNRELEASED_INSTANCE_ID,
                    ErrorCode.FENCED_INSTANCE_ID,
                )

    @rule(place=PLACES)
    def leave(self, place: int) -> None:
        client = self.clients.pop(place, None)
        if client is not None:
            client.leave()

    @rule(place=PLACES)
    def crash(self, place: int) -> None:
        self.clients.pop(place, None)

    @rule(seconds=st.sampled_from([0, 1, 11, 21]))
    def pass_time(self, seconds: int) -> None:
        self.bench.advance(seconds)

    @rule(compact=st.booleans())
    def fail_over(self, compact: bool) -> None:
        self.bench.reload(compact=compact)
        for client in self.clients.values():
            if isinstance(client, ClassicConsumer):
                client.lose_coordinator()

    @invariant()
    def the_id_belongs_to_one_group(self) -> None:
        assert not (GROUP in self.bench.groups and GROUP in self.bench.classic)

    @invariant()
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
            is_consumer = isinstance(client, Consumer)
            if member is not None and (member.classic is None) == is_consumer:
                known = self.bench.names({**member.assigned, **member.pending_revocation})
                owned = client.reads if isinstance(client, Consumer) else client.owned
                assert owned <= known, "G10: a client owns what is not held for it"

    @invariant()
    def generations_grow(self) -> None:
        group, classic = self.bench.groups.get(GROUP), self.bench.classic.get(GROUP)
        if not any(each is not None and each.members for each in (group, classic)):
            self.generation = 0  # an empty group may give way to a new one
        elif group is not None:
            assert group.group_epoch >= self.generation
            self.generation = group.group_epoch
        elif classic is not None and classic.state is ClassicState.STABLE:
            assert classic.generation >= self.generation
            self.generation = classic.generation

    def teardown(self) -> None:
        """Those who are left go on; all of them get there, unless the policy forbids it."""
        if not self.clients:
            return
        for _ in range(40):
            for place in sorted(self.clients):
                self.turn(place)
            self.bench.advance(3)
        group, classic = self.bench.groups.get(GROUP), self.bench.classic.get(GROUP)
        inside = [
            client
            for client in self.clients.values()
            if group is not None or isinstance(client, ClassicConsumer)
        ]
        if group is not None:
            assert group.state is ConsumerGroupState.STABLE
        else:
            assert classic is not None
            assert classic.state is ClassicState.STABLE
            # Only a policy keeps consumers of the new protocol out of a classic group.
            assert len(inside) == len(self.clients) or self.policy == "downgrade"
        owned = [each.reads if isinstance(each, Consumer) else each.owned for each in inside]
        assert set().union(*owned) == ALL
        assert sum(map(len, owned)) == len(ALL)


MigrationMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None
)
TestMigration = MigrationMachine.TestCase
