"""Transactions over the wire: what survives a restart, what an operator sees and does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbroker.config import BrokerConfig, TopicConfig
from kbroker.log import PartitionLog
from kbroker.model import TopicPartition
from kbroker.records import Record, build_batch, scan_batches
from kbroker.server.serving import STORE_FILE
from kbroker.testing import Broker
from kbroker.txn import TransactionRecord, decode_record, encode_record
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kbroker.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kbroker.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from tests.broker.conversation import TIMESTAMP_MS, Conversation, data_of
from tests.broker.transacting import (
    Transactor,
    producers,
    read,
    state_of,
    state_partition,
    transactor,
    until,
    until_complete,
)

# With the second one nothing is committed before it is flushed, so every answer comes later.
MODES = {"at once": {}, "when flushed": {"log.flush.interval.messages": "1"}}


@pytest.fixture(params=list(MODES))
def talk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Conversation]:
    with Broker(data_dir=str(tmp_path), configs=MODES[request.param]) as broker:
        conversation = Conversation.with_broker(broker)
        conversation.create_topic("t", partitions=3)
        yield conversation
        conversation.connection.close()


# --- restarts ----------------------------------------------------------------------------


def open_log(directory: Path) -> PartitionLog:
    name, _, number = directory.name.rpartition("-")
    from kbroker.log import REAL_DISK
    from kbroker.log.partition_metadata import read_partition_metadata

    topic_id = read_partition_metadata(REAL_DISK, str(directory))
    assert topic_id is not None
    return PartitionLog.open(
        str(directory),
        topic_partition=TopicPartition(name, int(number)),
        topic_id=topic_id,
        config=TopicConfig.of(BrokerConfig.of({}), {}),
        now_ms=TIMESTAMP_MS,
    )


def last_record(log: PartitionLog) -> TransactionRecord:
    from kbroker.broker.stored_records import stored_records

    *_, (_, stored) = stored_records(log)
    assert isinstance(stored, Record)
    assert stored.key is not None
    record = decode_record(stored.key, stored.value)
    assert record is not None
    return record


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("partition", [0, 2])
def test_T5_markers_that_were_not_written_follow_after_a_restart(tmp_path, commit, partition):
    """As if the broker had been killed between the decision and its markers."""
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        talk.create_topic("t", partitions=3)
        producer = transactor(talk)
        producer.write(b"a", partition=partition)
        talk.connection.close()
    log = open_log(tmp_path / state_partition("x"))
    open_transaction = last_record(log).transaction
    assert open_transaction is not None
    decided = open_transaction.prepared(
        committed=commit, client_version=2, next_producer_id=-1, now_ms=TIMESTAMP_MS
    )
    key, value = encode_record(TransactionRecord("x", decided))
    log.append_own(
        build_batch([Record(0, TIMESTAMP_MS, key, value)]), leader_epoch=99, now_ms=TIMESTAMP_MS
    )
    log.close()

    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        until_complete(talk)
        expected = ["a"] if commit else []
        assert read(talk, committed=True, partition=partition) == expected
        # The producer has not heard of it and asks again.
        assert producer_on(talk, producer).end(commit=commit) is ErrorCode.NONE
        talk.connection.close()


def producer_on(talk: Conversation, producer: Transactor) -> Transactor:
    producer.connection = talk.connection
    return producer


@pytest.mark.parametrize("is_v2", [True, False])
def test_T11_an_open_transaction_goes_on_after_a_restart(tmp_path, is_v2):
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        talk.create_topic("t", partitions=3)
        producer = transactor(talk, is_v2=is_v2)
        producer.write(b"a")
        talk.connection.close()
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        producer = producer_on(talk, producer)
        until(lambda: state_of(talk).transaction_state == "Ongoing")
        assert read(talk, committed=True) == []
        assert producer.write(b"b") is ErrorCode.NONE
        assert producer.end() is ErrorCode.NONE
        until_complete(talk)
        assert read(talk, committed=True) == ["a", "b"]
        talk.connection.close()


def test_T10_aborted_data_stays_unseen_after_a_restart(tmp_path):
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        talk.create_topic("t", segment_bytes="1048576")
        producer = transactor(talk)
        for number in range(4):
            producer.write(b"%d" % number)
            producer.end(commit=number % 2 == 0)
            until_complete(talk)
        talk.connection.close()
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        assert read(talk, committed=True) == ["0", "2"]
        assert read(talk, committed=False) == ["0", "1", "2", "3"]
        talk.connection.close()


# --- what an operator sees and does -----------------------------------------------------


def test_a_deleted_topic_does_not_keep_a_transaction_from_ending(talk):
    talk.create_topic("gone")
    producer = transactor(talk)
    producer.write(b"stays")
    producer.topic = "gone"
    producer.write(b"goes")
    request = DeleteTopicsRequest(topic_names=["gone"], timeout_ms=5000)
    talk.connection.ask(request, DeleteTopicsResponse, version=5)

    assert producer.end() is ErrorCode.NONE
    until_complete(talk)
    assert read(talk, committed=True) == ["stays"]


def test_T12_a_transaction_that_hangs_is_seen_and_can_be_aborted(talk):
    """A marker with the epoch of the data ends it; the coordinator knows nothing of it."""
    producer = transactor(talk)
    producer.write(b"hangs")
    (hanging,) = producers(talk)
    assert (hanging.producer_id, hanging.current_txn_start_offset) == (producer.producer_id, 0)
    marker = WritableTxnMarker(
        producer_id=hanging.producer_id,
        producer_epoch=hanging.producer_epoch,
        transaction_result=False,
        coordinator_epoch=hanging.coordinator_epoch,
        topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0, 7])],
    )
    request = WriteTxnMarkersRequest(markers=[marker])
    answer = talk.connection.ask(request, WriteTxnMarkersResponse, version=1)

    results = answer.markers[0].topics[0].partitions
    assert [each.error_code for each in results] == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert read(talk, committed=True) == []
    assert producers(talk)[0].current_txn_start_offset == -1


def test_T1_a_late_marker_of_version_2_does_not_end_the_next_transaction(talk):
    producer = transactor(talk)
    producer.write(b"first")
    producer.end()
    until_complete(talk)
    producer.write(b"second")  # with the epoch that the marker of the first one had
    late = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        coordinator_epoch=1000,
        transaction_version=2,
        topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0, 1])],
    )
    request = WriteTxnMarkersRequest(markers=[late])
    answer = talk.connection.ask(request, WriteTxnMarkersResponse, version=2)

    results = answer.markers[0].topics[0].partitions
    assert results[0].error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    producer.end()
    until_complete(talk)
    assert read(talk, committed=True) == ["first", "second"]


def test_T5_a_marker_carries_the_epoch_of_its_coordinator(talk):
    producer = transactor(talk)
    producer.write(b"a")
    producer.end()
    until_complete(talk)
    epoch = producers(talk)[0].coordinator_epoch
    assert epoch >= 0
    old = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        coordinator_epoch=epoch - 1,
        topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0])],
    )
    request = WriteTxnMarkersRequest(markers=[old])
    answer = talk.connection.ask(request, WriteTxnMarkersResponse, version=1)
    code = answer.markers[0].topics[0].partitions[0].error_code
    assert code == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_transactions_are_listed(talk):
    transactor(talk, "apple").write(b"a")
    transactor(talk, "pear")

    def listed(**wanted: object) -> list[str]:
        request = ListTransactionsRequest(**wanted)
        answer = talk.connection.ask(request, ListTransactionsResponse, version=2)
        assert answer.error_code == ErrorCode.NONE
        return sorted(each.transactional_id for each in answer.transaction_states)

    assert listed() == ["apple", "pear"]
    assert listed(state_filters=["Ongoing"]) == ["apple"]
    assert listed(transactional_id_pattern="p.*") == ["pear"]
    assert listed(transactional_id_pattern="") == ["apple", "pear"]
    assert listed(duration_filter=3_600_000, state_filters=["Ongoing"]) == []
    request = ListTransactionsRequest(transactional_id_pattern="(")
    answer = talk.connection.ask(request, ListTransactionsResponse, version=2)
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    request = ListTransactionsRequest(state_filters=["Nonsense"])
    answer = talk.connection.ask(request, ListTransactionsResponse, version=0)
    assert answer.unknown_state_filters == ["Nonsense"]


def test_an_unknown_transactional_id_is_described_as_such(talk):
    transactor(talk)
    assert state_of(talk, "nobody").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert state_of(talk, "").error_code == ErrorCode.INVALID_REQUEST


def test_P11_a_broker_on_foreign_logs_hands_out_no_id_of_theirs(tmp_path):
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        producer = transactor(talk)
        talk.connection.close()
    (tmp_path / STORE_FILE).unlink()
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        until(lambda: state_of(talk).error_code == ErrorCode.NONE)
        assert transactor(talk, "other").producer_id > producer.producer_id
        assert state_of(talk).producer_id == producer.producer_id
        talk.connection.close()


def test_batches_of_a_transaction_are_marked_as_such(talk):
    producer = transactor(talk)
    producer.write(b"a")
    producer.end()
    until_complete(talk)
    data = bytes(data_of(talk.fetch({("t", 0): 0}))["t", 0].records or b"")
    (_, first), (_, second) = scan_batches(data)
    assert (first.producer_epoch, second.producer_epoch) == (0, 1)
    assert (first.is_control, second.is_control) == (False, True)
