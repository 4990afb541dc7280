"""Transactions that run out of time, and ids that nobody uses any more."""

import pytest

from kbroker.config import BrokerConfig
from kbroker.txn import TransactionFilter, TransactionSettings
from kbroker.wire import ErrorCode
from tests.txn.bench import TIMEOUT_MS, Bench, next_writer, place

DAY_S = 86_400


@pytest.mark.parametrize("version", [0, 2])
def test_a_transaction_that_runs_out_of_time_is_aborted_and_its_producer_fenced(version):
    bench = Bench(transaction_version=version)
    writer = bench.writer()
    bench.add(writer, version=version)
    bench.wait(TIMEOUT_MS / 1000 - 1)
    assert bench.state() == "Ongoing"
    bench.wait(12)

    assert bench.state() == "PrepareAbort"
    assert bench.write_markers() == [(place(0), 1, False)]
    assert bench.end(writer, version=version).error_code in (
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_TXN_STATE,
    )
    assert bench.add(writer, version=version) is ErrorCode.PRODUCER_FENCED


def test_in_version_2_the_late_commit_of_a_timed_out_transaction_is_refused():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer)
    bench.wait(100)
    bench.write_markers()
    assert bench.end(writer, commit=True).error_code == ErrorCode.INVALID_TXN_STATE


def test_the_timeout_counts_from_the_beginning_also_after_a_failover():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer, place(0))
    bench.wait(50)
    bench.restart()
    bench.add(writer, place(1))
    bench.wait(25)
    assert bench.state() == "PrepareAbort"


def test_a_transaction_that_ended_has_no_timeout():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer)
    bench.end(writer)
    bench.write_markers()
    bench.wait(1000)
    assert bench.state() == "CompleteCommit"


def test_nothing_is_waited_for_where_nothing_is():
    bench = Bench()
    assert bench.shard.next_deadline() is None
    bench.writer()
    assert bench.shard.next_deadline() is not None


@pytest.mark.parametrize("state", ["Empty", "CompleteCommit", "CompleteAbort"])
def test_an_id_that_nobody_uses_is_forgotten(state):
    bench = Bench()
    writer = bench.writer()
    if state != "Empty":
        bench.add(writer)
        bench.end(writer, commit=state == "CompleteCommit")
        bench.write_markers()
    assert bench.state() == state
    bench.wait(7 * DAY_S - 7200)
    assert bench.state() == state
    bench.wait(2 * 7200)

    assert bench.state() == "unknown"
    assert bench.log[-1][1] is None
    bench.restart()
    assert len(bench.shard) == 0


def test_a_transaction_under_way_is_never_forgotten():
    bench = Bench(max_timeout_ms=2**31 - 1)
    bench.writer()
    bench.init(timeout_ms=2**31 - 1)
    writer = bench.writer("y")
    bench.add(writer)
    bench.end(writer)
    bench.wait(8 * DAY_S)
    assert bench.state("y") == "PrepareCommit"


def test_five_thousand_ids_that_were_used_once_do_not_stay():
    bench = Bench()
    for number in range(5000):
        writer = bench.writer(f"flink-{number}")
        bench.add(writer)
        bench.end(writer)
        bench.write_markers()
    assert len(bench.shard) == 5000
    bench.wait(8 * DAY_S)

    assert len(bench.shard) == 0
    assert bench.shard._ongoing == set()
    assert bench.shard._unmarked == {}


def test_an_id_in_use_stays():
    bench = Bench()
    writer = bench.writer()
    for _ in range(5):
        bench.wait(3 * DAY_S)
        bench.add(writer)
        writer = next_writer(writer, bench.end(writer))
        bench.write_markers()
    assert bench.state() == "CompleteCommit"


def test_other_settings_count_from_then_on():
    bench = Bench()
    bench.writer()
    from dataclasses import replace

    bench.shard.configure(replace(bench.settings, id_expiration_ms=1000))
    bench.wait(7200)
    assert bench.state() == "unknown"


def test_settings_are_those_of_the_broker():
    config = BrokerConfig.of({"transaction.max.timeout.ms": "7"})
    assert TransactionSettings.of(config, 1) == TransactionSettings(
        max_timeout_ms=7, transaction_version=1
    )


# --- listing -----------------------------------------------------------------------


def listed(bench: Bench, **wanted: object) -> list[str]:
    found = bench.shard.list(TransactionFilter(**wanted), bench.now_ms)
    return sorted(each.transactional_id for each in found)


def test_transactions_are_listed_as_asked_for():
    bench = Bench()
    bench.writer("empty")
    bench.add(bench.writer("old"))
    bench.wait(10)
    young = bench.writer("young")
    bench.add(young)

    assert listed(bench) == ["empty", "old", "young"]
    assert listed(bench, state_titles=["Ongoing"]) == ["old", "young"]
    assert listed(bench, state_titles=["Empty", "Nonsense"]) == ["empty"]
    assert listed(bench, producer_ids=[young.producer_id]) == ["young"]
    assert listed(bench, longer_than_ms=5000, state_titles=["Ongoing"]) == ["old"]
    assert listed(bench, matches_id=lambda name: name.startswith("y")) == ["young"]
    assert listed(bench, state_titles=["Dead"]) == []


def test_states_that_do_not_exist_are_named():
    wanted = TransactionFilter(state_titles=["Ongoing", "Nonsense", "PrepareEpochFence"])
    assert wanted.unknown_titles == ["Nonsense"]


def test_T12_a_transaction_is_described_with_its_partitions():
    bench = Bench()
    writer = bench.writer()
    begun_ms = bench.now_ms
    bench.add(writer, place(1), place(0), place(5, "u"))

    described = bench.shard.describe("x")
    assert described.error_code == ErrorCode.NONE
    assert described.transaction_state == "Ongoing"
    assert described.transaction_timeout_ms == TIMEOUT_MS
    assert described.transaction_start_time_ms == begun_ms
    assert (described.producer_id, described.producer_epoch) == writer[1:]
    assert [(topic.topic, topic.partitions) for topic in described.topics] == [
        ("t", [0, 1]),
        ("u", [5]),
    ]
    assert bench.shard.describe("y").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
