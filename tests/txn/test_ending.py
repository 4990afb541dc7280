"""EndTxn, and what leads to it and from it."""

import pytest

from kbroker.txn import Writer
from kbroker.txn.transaction import LAST_EPOCH
from kbroker.wire import ErrorCode
from tests.txn.bench import Bench, next_writer, place


def code(answer) -> ErrorCode:
    return ErrorCode(answer.error_code)


# --- partitions ----------------------------------------------------------------------


def test_a_transaction_begins_with_its_first_partition():
    bench = Bench()
    writer = bench.writer()
    assert bench.add(writer, place(0)) is ErrorCode.NONE
    begun_ms = bench.now_ms
    bench.wait(5)
    assert bench.add(writer, place(1), place(0)) is ErrorCode.NONE

    assert bench.state() == "Ongoing"
    assert bench.known().partitions == {place(0), place(1)}
    assert bench.known().start_timestamp_ms == begun_ms


def test_a_partition_that_is_there_is_not_written_again():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer, place(0), place(1))
    written = len(bench.log)
    assert bench.add(writer, place(1)) is ErrorCode.NONE
    assert len(bench.log) == written


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"transactional_id": "y"}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ({"producer_id": 1}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ({"producer_epoch": 7}, ErrorCode.PRODUCER_FENCED),
        ({"producer_epoch": -1}, ErrorCode.PRODUCER_FENCED),
    ],
)
def test_only_its_producer_writes_in_a_transaction(change, error):
    bench = Bench()
    writer = bench.writer()
    bench.add(writer)
    stranger = writer._replace(**change)

    assert bench.add(stranger, place(1)) is error
    assert bench.verify(stranger, place(0)) is error
    assert code(bench.end(stranger)) is error
    assert code(bench.end(stranger, version=0)) is error
    assert bench.state() == "Ongoing"


def test_T2_the_coordinator_tells_whether_a_partition_is_in_the_transaction():
    bench = Bench()
    writer = bench.writer()
    assert bench.verify(writer, place(0)) is ErrorCode.TRANSACTION_ABORTABLE
    bench.add(writer, place(0), version=0)

    assert bench.verify(writer, place(0)) is ErrorCode.NONE
    assert bench.verify(writer, place(1)) is ErrorCode.TRANSACTION_ABORTABLE
    bench.end(writer, version=0)
    assert bench.verify(writer, place(0)) is ErrorCode.CONCURRENT_TRANSACTIONS
    bench.write_markers()
    assert bench.verify(writer, place(0)) is ErrorCode.TRANSACTION_ABORTABLE


# --- version 2 -----------------------------------------------------------------------


@pytest.mark.parametrize("commit", [True, False])
def test_T1_each_end_takes_an_epoch(commit):
    bench = Bench()
    first = bench.writer()
    bench.add(first, place(0))
    answer = bench.end(first, commit=commit)
    assert (code(answer), answer.producer_id, answer.producer_epoch) == (
        ErrorCode.NONE,
        first.producer_id,
        1,
    )
    assert bench.write_markers() == [(place(0), 1, commit)]
    second = next_writer(first, answer)
    assert bench.add(second, place(1)) is ErrorCode.NONE

    # Nothing of the first transaction touches the second one.
    assert bench.add(first, place(2)) is ErrorCode.PRODUCER_FENCED
    assert code(bench.end(first, commit=True)) is ErrorCode.PRODUCER_FENCED
    assert code(bench.end(first, commit=False)) is ErrorCode.PRODUCER_FENCED
    assert bench.known().partitions == {place(1)}
    assert bench.state() == "Ongoing"


def test_T4_the_decision_is_written_before_any_marker_is_ordered_and_never_reverses():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer)
    outcome = bench.shard.end_transaction(
        _request(writer, commit=True), 2, bench.ticket(), bench.now_ms
    )
    (record,) = outcome.records
    assert record.transaction is not None
    assert record.transaction.state.title == "PrepareCommit"
    assert len(outcome.effects) == 1
    bench.carry_out(outcome)

    for version in (0, 2):
        for epoch in (0, 1):
            again = writer._replace(producer_epoch=epoch)
            assert code(bench.end(again, commit=False, version=version)) in (
                ErrorCode.CONCURRENT_TRANSACTIONS,
                ErrorCode.PRODUCER_FENCED,
            )
    bench.wait(100_000)
    bench.restart()
    assert bench.state() == "PrepareCommit"


def _request(writer: Writer, *, commit: bool):
    from kbroker.wire.messages.end_txn import EndTxnRequest

    return EndTxnRequest(
        transactional_id=writer.transactional_id,
        producer_id=writer.producer_id,
        producer_epoch=writer.producer_epoch,
        committed=commit,
    )


@pytest.mark.parametrize("commit", [True, False])
def test_T6_a_retry_gets_the_answer_of_the_first(commit):
    bench = Bench()
    writer = bench.writer()
    bench.add(writer)
    first = bench.end(writer, commit=commit)
    assert code(bench.end(writer, commit=commit)) is ErrorCode.CONCURRENT_TRANSACTIONS
    bench.write_markers()

    again = bench.end(writer, commit=commit)
    assert again == first
    assert code(bench.end(writer, commit=not commit)) is ErrorCode.INVALID_TXN_STATE
    bench.restart()
    assert bench.end(writer, commit=commit) == first


def test_the_epoch_of_the_next_transaction_cannot_end_this_one():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer)
    answer = bench.end(writer)
    assert code(bench.end(next_writer(writer, answer))) is ErrorCode.PRODUCER_FENCED


def test_T8_the_end_of_a_transaction_rotates_a_used_up_id():
    bench = Bench()
    old = bench.at_epoch(LAST_EPOCH - 1)
    bench.add(old)
    answer = bench.end(old)
    new = next_writer(old, answer)
    assert (code(answer), new.producer_epoch) == (ErrorCode.NONE, 0)
    assert new.producer_id != old.producer_id

    # The new id is not fenced while the old one's markers are written (KAFKA-18660).
    assert bench.add(new) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert code(bench.end(old)) is ErrorCode.CONCURRENT_TRANSACTIONS
    bench.restart()
    assert bench.write_markers() == [(place(0), LAST_EPOCH, True)]
    assert bench.end(old) == answer
    assert code(bench.end(old, commit=False)) is ErrorCode.INVALID_TXN_STATE
    assert bench.add(new) is ErrorCode.NONE
    assert code(bench.end(old)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("before", ["never", "committed", "aborted"])
def test_an_abort_without_a_beginning_gives_an_epoch(before):
    bench = Bench()
    writer = bench.writer()
    if before != "never":
        bench.add(writer)
        writer = next_writer(writer, bench.end(writer, commit=before == "committed"))
        bench.write_markers()
    answer = bench.end(writer, commit=False)

    assert (code(answer), answer.producer_epoch) == (ErrorCode.NONE, writer.producer_epoch + 1)
    assert bench.state() == "CompleteAbort"
    assert bench.orders == []
    assert bench.known().start_timestamp_ms == bench.now_ms


@pytest.mark.parametrize("before", ["never", "committed", "aborted"])
def test_a_commit_without_a_beginning_is_refused(before):
    bench = Bench()
    writer = bench.writer()
    if before != "never":
        bench.add(writer)
        writer = next_writer(writer, bench.end(writer, commit=before == "committed"))
        bench.write_markers()
    assert code(bench.end(writer)) is ErrorCode.INVALID_TXN_STATE


def test_markers_go_to_every_partition_and_the_last_completes():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer, place(0), place(1), place(0, "u"))
    bench.end(writer)
    (order,) = bench.orders

    for number, partition in enumerate(sorted(order.partitions)):
        assert bench.state() == "PrepareCommit"
        described = bench.shard.describe("x")
        assert sum(len(topic.partitions) for topic in described.topics) == 3 - number
        bench.carry_out(bench.shard.marker_written(order, partition, bench.now_ms))
    assert bench.state() == "CompleteCommit"
    # An order that is carried out twice does no harm.
    written = len(bench.log)
    bench.carry_out(bench.shard.marker_written(order, place(0), bench.now_ms))
    assert len(bench.log) == written


def test_a_report_for_a_transaction_before_is_not_taken_for_this_one():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer)
    answer = bench.end(writer)
    (old_order,) = bench.orders
    bench.write_markers()
    second = next_writer(writer, answer)
    bench.add(second)
    bench.end(second)

    bench.carry_out(bench.shard.marker_written(old_order, place(0), bench.now_ms))
    assert bench.state() == "PrepareCommit"


@pytest.mark.parametrize("version", [0, 2])
def test_T5_prepared_transactions_get_their_markers_after_a_failover(version):
    bench = Bench()
    writer = bench.writer()
    bench.add(writer, place(0), place(1), version=version)
    bench.end(writer, version=version)
    bench.restart()

    epoch = 1 if version == 2 else 0
    (order,) = bench.orders
    assert order.transaction_version == version
    assert bench.write_markers() == [(place(0), epoch, True), (place(1), epoch, True)]
    assert bench.state() == "CompleteCommit"


def test_a_prepared_transaction_without_partitions_is_completed_after_a_failover():
    """Kafka writes one when a producer aborts before its first write, in two batches."""
    bench = Bench()
    writer = bench.writer()
    bench.end(writer, commit=False)
    del bench.log[-1]
    bench.restart()
    assert bench.state() == "CompleteAbort"


# --- version 1 -----------------------------------------------------------------------


@pytest.mark.parametrize("commit", [True, False])
def test_old_clients_keep_their_epoch(commit):
    bench = Bench()
    writer = bench.writer()
    bench.add(writer, version=0)
    answer = bench.end(writer, commit=commit, version=0)
    assert (code(answer), answer.producer_epoch) == (ErrorCode.NONE, 0)
    assert code(bench.end(writer, commit=commit, version=0)) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert bench.write_markers() == [(place(0), 0, commit)]

    assert code(bench.end(writer, commit=commit, version=0)) is ErrorCode.NONE
    assert code(bench.end(writer, commit=not commit, version=0)) is ErrorCode.INVALID_TXN_STATE
    assert bench.add(writer, version=0) is ErrorCode.NONE


def test_an_old_client_cannot_end_what_never_began():
    bench = Bench()
    writer = bench.writer()
    for commit in (True, False):
        assert code(bench.end(writer, commit=commit, version=0)) is ErrorCode.INVALID_TXN_STATE


def test_T6_an_old_client_needs_the_exact_epoch():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer, version=0)
    for epoch in (-1, 1):
        stranger = writer._replace(producer_epoch=epoch)
        assert code(bench.end(stranger, version=0)) is ErrorCode.PRODUCER_FENCED


def test_an_id_that_nobody_knows_has_no_transaction():
    bench = Bench()
    for version in (0, 2):
        answer = bench.end(Writer("nobody", 1, 0), version=version)
        assert code(answer) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
