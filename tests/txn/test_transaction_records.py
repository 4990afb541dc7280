"""The records of __transaction_state, byte by byte where it matters."""

import pytest

from kbroker.txn import (
    TransactionRecord,
    TransactionSettings,
    TransactionShard,
    decode_record,
    encode_record,
)
from kbroker.txn.states import AT_REST, BY_TITLE, MOVES, PREPARED, TransactionState
from kbroker.txn.transaction import Transaction
from kbroker.txn.transaction_records import value_version
from kbroker.wire import ProtocolError
from tests.txn.bench import Bench, place


def sample(**changes: object) -> Transaction:
    return Transaction(
        producer_id=7,
        producer_epoch=3,
        timeout_ms=60_000,
        update_timestamp_ms=2000,
        state=TransactionState.PREPARE_COMMIT,
        partitions=frozenset({place(1), place(0), place(2, "u")}),
        start_timestamp_ms=1000,
        previous_producer_id=6,
        next_producer_id=8,
        client_version=2,
    )._replace(**changes)


def test_a_record_of_version_1_comes_back_whole():
    record = TransactionRecord("x", sample(), 1)
    assert decode_record(*encode_record(record)) == record


def test_a_record_of_version_0_has_no_tagged_fields():
    key, value = encode_record(TransactionRecord("x", sample(), 0))
    found = decode_record(key, value)

    bare = sample(previous_producer_id=-1, next_producer_id=-1, client_version=0)
    assert found == TransactionRecord("x", bare, 0)


def test_the_bytes_are_those_of_kafka():
    """As TransactionLog.keyToBytes and valueToBytes of Kafka 4.3 write them."""
    transaction = Transaction(
        producer_id=9,
        producer_epoch=2,
        timeout_ms=60_000,
        update_timestamp_ms=5,
    )
    key, value = encode_record(TransactionRecord("ab", transaction, 1))
    assert key == b"\x00\x00" + b"\x00\x02ab"
    # Version, producer id, epoch, timeout, status, no partitions at all, two times, no tags.
    assert value == (
        b"\x00\x01"
        + (9).to_bytes(8, "big")
        + b"\x00\x02"
        + (60_000).to_bytes(4, "big")
        + b"\x00"
        + b"\x00"
        + (5).to_bytes(8, "big")
        + (-1).to_bytes(8, "big", signed=True)
        + b"\x00"
    )


def test_the_last_epoch_is_not_in_the_records():
    record = TransactionRecord("x", sample(last_producer_epoch=2), 1)
    found = decode_record(*encode_record(record))
    assert found is not None
    assert found.transaction == sample(last_producer_epoch=-1)


def test_a_tombstone_forgets():
    record = TransactionRecord("x", None)
    assert encode_record(record)[1] is None
    assert decode_record(*encode_record(record)) == record


def test_a_record_of_another_type_is_left_alone():
    assert decode_record(b"\x00\x07rest", b"whatever") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [(b"\x00", None), (b"\x00\x00\x00\x02a", None), (b"\x00\x00\x00\x01a", b"\x00")],
)
def test_what_is_no_record_is_refused(key, value):
    with pytest.raises(ProtocolError):
        decode_record(key, value)


def test_a_state_that_does_not_exist_is_refused():
    key, value = encode_record(TransactionRecord("x", sample(), 0))
    assert value is not None
    broken = value[:16] + b"\x09" + value[17:]
    with pytest.raises(ProtocolError):
        decode_record(key, broken)


@pytest.mark.parametrize(("level", "version"), [(0, 0), (1, 1), (2, 1)])
def test_the_feature_says_which_version_is_written(level, version):
    assert value_version(level) == version
    bench = Bench(transaction_version=level)
    bench.writer()
    assert bench.log[0][1] is not None
    assert bench.log[0][1][:2] == version.to_bytes(2, "big")


def test_states_have_the_numbers_and_names_of_kafka():
    assert {state.title: int(state) for state in TransactionState} == {
        "Empty": 0,
        "Ongoing": 1,
        "PrepareCommit": 2,
        "PrepareAbort": 3,
        "CompleteCommit": 4,
        "CompleteAbort": 5,
        "Dead": 6,
        "PrepareEpochFence": 7,
    }
    assert BY_TITLE["PrepareAbort"] is TransactionState.PREPARE_ABORT


def test_T4_no_move_takes_a_decision_back():
    for state in PREPARED:
        following = {new for new in TransactionState if MOVES.allows(state, new)}
        assert len(following) == 1
        assert following <= AT_REST
    assert not MOVES.allows(TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)


def test_what_stands_in_the_log_counts_whoever_wrote_it():
    """Kafka's coordinator takes no notice of transactions in its own topic either."""
    shard = TransactionShard(TransactionSettings())
    shard.replay_pending(TransactionRecord("x", sample()), producer_id=5)
    shard.replay_marker(5, 0, committed=False)
    assert shard.describe("x").transaction_state == "PrepareCommit"


def test_a_tombstone_for_a_stranger_is_nothing():
    shard = TransactionShard(TransactionSettings())
    shard.replay(TransactionRecord("x", None))
    assert len(shard) == 0
