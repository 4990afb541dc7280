"""A shard against what may be said of any history of it, whatever order things come in.

Three processes share one transactional id, old clients and new ones; answers get lost, requests
come late and twice, the coordinator fails over, time passes. A model keeps what was promised.
"""

from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kbroker.txn import WriteMarkers, Writer
from kbroker.txn.states import PREPARED, TransactionState
from kbroker.wire import ErrorCode
from tests.txn.bench import Bench, place

if TYPE_CHECKING:
    from kbroker.model import TopicPartition

PROCESSES = st.sampled_from(["a", "b", "c"])
VERSIONS = st.sampled_from([0, 2])


class Transactions(RuleBasedStateMachine):
    """What the model remembers: who was given what, what was promised, and the markers."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench()
        self.given: dict[str, Writer] = {}
        # Every writer that anybody has ever been given, oldest first.
        self.writers: list[Writer] = []
        # Writers that were given before another process took over.
        self.fenced: set[Writer] = set()
        # The partitions that were added to the transaction that is open, and its promise.
        self.added: set[TopicPartition] = set()
        self.promised: bool | None = None
        self.marked: dict[TopicPartition, bool] = {}
        self.highest: dict[int, int] = {}

    # --- what processes do -------------------------------------------------------------

    @rule(process=PROCESSES)
    def init(self, process: str) -> None:
        was_open = self.bench.state() == "Ongoing"
        answer = self.bench.init()
        if answer.error_code == ErrorCode.NONE:
            self.fenced |= set(self.writers)
            self._give(process, answer.producer_id, answer.producer_epoch)
            self._begin_anew()
        else:
            assert answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
            if was_open:
                self.promised = False

    @precondition(lambda self: self.given)
    @rule(data=st.data())
    def recover(self, data: st.DataObject) -> None:
        process = data.draw(st.sampled_from(sorted(self.given)))
        writer = self.given[process]
        was_open = self.bench.state() == "Ongoing"
        answer = self.bench.init(
            producer_id=writer.producer_id, producer_epoch=writer.producer_epoch
        )
        if answer.error_code == ErrorCode.NONE:
            assert writer not in self.fenced
            self._give(process, answer.producer_id, answer.producer_epoch)
            self._begin_anew()
        elif answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS and was_open:
            self.promised = False

    @precondition(lambda self: self.writers)
    @rule(data=st.data(), numbers=st.sets(st.integers(0, 3), min_size=1), version=VERSIONS)
    def add(self, data: st.DataObject, numbers: set[int], version: int) -> None:
        """By anybody who was ever given an epoch: requests come late."""
        writer = data.draw(st.sampled_from(self.writers))
        places = [place(number) for number in numbers]
        was_open = self.bench.state() == "Ongoing"
        if self.bench.add(writer, *places, version=version) is ErrorCode.NONE:
            assert writer not in self.fenced
            if not was_open:
                self._begin_anew()
            self.added |= set(places)
            assert all(self.bench.verify(writer, each) is ErrorCode.NONE for each in places)

    @precondition(lambda self: self.writers)
    @rule(data=st.data(), commit=st.booleans(), version=VERSIONS, lost=st.booleans())
    def end(self, data: st.DataObject, commit: bool, version: int, lost: bool) -> None:
        writer = data.draw(st.sampled_from(self.writers))
        was_open = self.bench.state() == "Ongoing"
        answer = self.bench.end(writer, commit=commit, version=version)
        if answer.error_code != ErrorCode.NONE:
            return
        if was_open:
            assert writer not in self.fenced
            self.promised = commit
        elif self.added:
            # A retry: what was promised is what is told again.
            assert self.promised is commit or not commit
        process = next((name for name, had in self.given.items() if had == writer), None)
        if process is not None and not lost:
            self._give(process, answer.producer_id, answer.producer_epoch)

    def _give(self, process: str, producer_id: int, producer_epoch: int) -> None:
        writer = Writer("x", producer_id, producer_epoch)
        self.given[process] = writer
        self.fenced.discard(writer)
        if writer not in self.writers:
            self.writers.append(writer)

    def _begin_anew(self) -> None:
        self.added = set()
        self.promised = None
        self.marked = {}

    # --- what happens to them ------------------------------------------------------------

    @precondition(lambda self: self.bench.orders)
    @rule(data=st.data())
    def write_one_marker(self, data: st.DataObject) -> None:
        order: WriteMarkers = data.draw(st.sampled_from(self.bench.orders))
        partition = data.draw(st.sampled_from(sorted(order.partitions)))
        if self.bench.known().state in PREPARED:
            self.marked[partition] = order.committed
        self.bench.carry_out(self.bench.shard.marker_written(order, partition, self.bench.now_ms))
        if self.bench.known().state not in PREPARED:
            self.bench.orders.clear()

    @rule()
    def fail_over(self) -> None:
        before = self.bench.transaction()
        self.bench.restart()
        after = self.bench.transaction()
        if before is not None:
            assert after == before._replace(last_producer_epoch=-1)

    @rule()
    def run_out_of_time(self) -> None:
        was_open = self.bench.state() == "Ongoing"
        self.bench.wait(120)
        assert self.bench.state() != "Ongoing"
        if was_open:
            self.promised = False

    # --- what may always be said -----------------------------------------------------------

    @invariant()
    def every_partition_has_the_marker_that_was_promised(self) -> None:
        known = self.bench.transaction()
        if known is None or not self.added:
            return
        if known.state in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT):
            assert set(self.marked) >= self.added
            assert set(self.marked.values()) == {self.promised}
        elif known.state in PREPARED:
            assert known.partitions == self.added
            assert (known.state is TransactionState.PREPARE_COMMIT) is self.promised

    @invariant()
    def epochs_of_an_id_never_fall(self) -> None:
        known = self.bench.transaction()
        if known is not None:
            highest = self.highest.get(known.producer_id, -1)
            assert known.producer_epoch >= highest
            self.highest[known.producer_id] = known.producer_epoch


TestTransactions = Transactions.TestCase
TestTransactions.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
