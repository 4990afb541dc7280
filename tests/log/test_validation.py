"""What topics demand of batches, with the codes and the per-record errors of LogValidator."""

from pathlib import Path

import pytest

from kbroker.log import (
    InvalidRecords,
    InvalidTimestamp,
    PartitionLog,
    RecordListTooLarge,
    RecordTooLarge,
)
from kbroker.records import (
    Compression,
    CorruptRecords,
    Record,
    build_batch,
    crc_matches,
    parse_records,
    read_header,
)
from tests.log.samples import NOW_MS, append, batch, content, open_log, topic_config

HOUR_MS = 3_600_000


def stored(log: PartitionLog) -> bytes:
    """The last batch in the log."""
    return content(log.read(log.log_end_offset - 1, 1 << 20, up_to=log.log_end_offset))


def test_a_batch_above_max_message_bytes_is_refused(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(max_message_bytes=200))
    with pytest.raises(RecordTooLarge) as caught:
        append(log, batch(bytes(200)))
    assert caught.value.kafka_error == "MESSAGE_TOO_LARGE"
    assert append(log, batch(bytes(100))).first_offset == 0


def test_a_batch_above_a_segment_is_refused(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(segment_bytes=150))
    with pytest.raises(RecordListTooLarge):
        append(log, batch(bytes(200)))
    assert log.log_end_offset == 0


def test_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    sent = batch(b"value")
    sent[-2] ^= 1
    with pytest.raises(CorruptRecords):
        append(log, sent)
    assert log.log_end_offset == 0


def test_records_from_the_future_are_refused_one_by_one(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    late = NOW_MS + HOUR_MS + 1
    sent = build_batch(
        [Record(0, NOW_MS, None, b"a"), Record(1, late, None, b"b"), Record(2, late, None, b"c")]
    )
    with pytest.raises(InvalidTimestamp) as caught:
        append(log, sent)
    assert caught.value.kafka_error == "INVALID_TIMESTAMP"
    assert [error.batch_index for error in caught.value.record_errors] == [1, 2]
    assert str(late) in caught.value.record_errors[0].message
    assert append(log, batch(timestamp_ms=NOW_MS + HOUR_MS)).first_offset == 0


def test_records_from_the_past_are_refused_where_the_topic_says_so(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(message_timestamp_before_max_ms=1000))
    sent = build_batch([Record(0, NOW_MS, None, b""), Record(1, NOW_MS - 1001, None, b"")])
    with pytest.raises(InvalidTimestamp) as caught:
        append(log, sent)
    assert [error.batch_index for error in caught.value.record_errors] == [1]
    assert append(log, batch(timestamp_ms=NOW_MS - 1000)).first_offset == 0


def test_a_compacted_topic_takes_no_record_without_a_key(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(compact=True))
    sent = build_batch([Record(0, NOW_MS, b"k", b""), Record(1, NOW_MS, None, b"")])
    with pytest.raises(InvalidRecords) as caught:
        append(log, sent)
    assert caught.value.kafka_error == "INVALID_RECORD"
    assert [error.batch_index for error in caught.value.record_errors] == [1]
    assert log.log_end_offset == 0
    assert append(log, batch(key=b"k", compression=Compression.LZ4)).first_offset == 0


def test_log_append_time_takes_the_place_of_all_timestamps(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(message_timestamp_type="LogAppendTime"))
    appended = append(log, batch(b"a", b"b", timestamp_ms=5), now_ms=NOW_MS + 7)
    assert appended.log_append_time_ms == NOW_MS + 7
    data = stored(log)
    header = read_header(data)
    assert header.is_log_append_time
    assert crc_matches(data, 0, header)
    assert {record.timestamp_ms for record in parse_records(data, header)} == {NOW_MS + 7}


def test_a_client_may_not_claim_log_append_time(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(message_timestamp_type="LogAppendTime"))
    with pytest.raises(InvalidTimestamp):
        append(log, batch(b"a", log_append_time_ms=NOW_MS))
    assert log.log_end_offset == 0


def test_in_a_topic_of_create_time_that_claim_is_taken_back(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, batch(b"a", log_append_time_ms=NOW_MS))
    header = read_header(stored(log))
    assert not header.is_log_append_time
    assert crc_matches(stored(log), 0, header)


def test_a_max_timestamp_below_the_first_is_put_right(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, batch(b"a", timestamp_ms=NOW_MS, max_timestamp_ms=-1))
    header = read_header(stored(log))
    assert header.max_timestamp_ms == NOW_MS
    assert crc_matches(stored(log), 0, header)


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
def test_the_compression_of_the_topic_wins(tmp_path: Path, compression: str) -> None:
    log = open_log(tmp_path, config=topic_config(compression_type=compression))
    sent = batch(
        *(b"a" * 50, b"b" * 50),
        compression=Compression.GZIP if compression != "gzip" else Compression.NONE,
        producer_id=7,
        producer_epoch=1,
        base_sequence=0,
    )
    append(log, sent)
    data = stored(log)
    header = read_header(data)
    expected = Compression.NONE if compression == "uncompressed" else compression.upper()
    assert header.compression in (expected, Compression.__members__.get(str(expected)))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 1, 0)
    assert [record.value for record in parse_records(data, header)] == [b"a" * 50, b"b" * 50]


def test_producer_compression_leaves_the_batch_as_it_is(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    sent = batch(b"a" * 100, compression=Compression.ZSTD)
    append(log, bytearray(sent))
    assert stored(log)[21:] == bytes(sent[21:])
