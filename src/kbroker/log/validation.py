"""What a topic demands of a client's batch beyond its being sound (LogValidator).

In most topics the header alone answers: the batch stays opaque. Records are opened where the
answer lies in them: a compacted topic wants keys, a bound on the age of records wants all
timestamps, a topic with its own compression wants them packed anew, and a header that does not
tell the truth about its timestamps is put right.

The max timestamp of the header is otherwise believed. Kafka computes it from the records; a
client that lies about it harms the time index of its own topic.
"""

from typing import NamedTuple

from kbroker.config import TopicConfig
from kbroker.log.errors import InvalidRecords, InvalidTimestamp, RecordError, RecordTooLarge
from kbroker.model import TopicPartition
from kbroker.records import (
    NO_TIMESTAMP,
    BatchHeader,
    Compression,
    Record,
    build_batch,
    parse_records,
    read_header,
    stamp_create_time,
    stamp_log_append_time,
    stamp_max_timestamp,
)

_UNLIMITED_MS = 2**63 - 1
_CODECS = {
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}


class Validated(NamedTuple):
    """A batch as the topic wants it: its bytes, its header, and the time it was stamped with."""

    records: bytearray | memoryview
    header: BatchHeader
    log_append_time_ms: int = NO_TIMESTAMP


def is_opaque(config: TopicConfig) -> bool:
    """Whether the header says all the topic wants to know of an ordinary batch."""
    return (
        not config.compact
        and config.compression_type == "producer"
        and config.message_timestamp_type == "CreateTime"
        and config.message_timestamp_before_max_ms == _UNLIMITED_MS
    )


def validate(
    records: bytearray | memoryview,
    header: BatchHeader,
    config: TopicConfig,
    *,
    topic_partition: TopicPartition,
    now_ms: int,
) -> Validated:
    """The batch, put right in place or built anew; raises RecordTooLarge or RecordsRefused."""
    _check_size(header.size_bytes, config)
    is_append_time = config.message_timestamp_type == "LogAppendTime"
    target = _CODECS.get(config.compression_type, header.compression)
    parsed = None
    if _must_open(header, config, target, now_ms):
        parsed = parse_records(records, header)
        _check_records(parsed, header, config, topic_partition, now_ms)
    elif is_append_time and header.is_log_append_time:
        raise _wrong_timestamp_type(header.record_count)

    if target is not header.compression:
        assert parsed is not None
        records = _recompress(parsed, header, target, config)
        header = read_header(records)
        _check_size(header.size_bytes, config)
    if is_append_time:
        stamp_log_append_time(records, 0, timestamp_ms=now_ms)
        return Validated(records, read_header(records), now_ms)
    if header.is_log_append_time:
        stamp_create_time(records, 0)
        header = read_header(records)
    if parsed is not None:
        max_timestamp_ms = max(record.timestamp_ms for record in parsed)
        if max_timestamp_ms != header.max_timestamp_ms:
            stamp_max_timestamp(records, 0, timestamp_ms=max_timestamp_ms)
            header = read_header(records)
    return Validated(records, header)


def _check_size(size_bytes: int, config: TopicConfig) -> None:
    if size_bytes > config.max_message_bytes:
        raise RecordTooLarge(
            f"a batch of {size_bytes} bytes is above max.message.bytes, {config.max_message_bytes}"
        )


def _must_open(header: BatchHeader, config: TopicConfig, target: Compression, now_ms: int) -> bool:
    """Whether the header does not tell enough."""
    if config.compact or target is not header.compression:
        return True
    if config.message_timestamp_type == "LogAppendTime":
        return False
    return (
        config.message_timestamp_before_max_ms != _UNLIMITED_MS
        or header.is_log_append_time
        or header.max_timestamp_ms < header.base_timestamp_ms
        or header.max_timestamp_ms > now_ms + config.message_timestamp_after_max_ms
    )


def _check_records(
    records: list[Record],
    header: BatchHeader,
    config: TopicConfig,
    topic_partition: TopicPartition,
    now_ms: int,
) -> None:
    """Raise for all records at once that the topic does not take."""
    is_append_time = config.message_timestamp_type == "LogAppendTime"
    earliest_ms = now_ms - config.message_timestamp_before_max_ms
    latest_ms = now_ms + config.message_timestamp_after_max_ms
    keyless = []
    untimely = []
    for index, record in enumerate(records):
        if config.compact and record.key is None:
            keyless.append(
                RecordError(
                    index, f"A record without a key in {topic_partition}, a compacted topic."
                )
            )
        elif is_append_time or record.timestamp_ms == NO_TIMESTAMP:
            if header.is_log_append_time:
                raise _wrong_timestamp_type(len(records))
        elif not earliest_ms <= record.timestamp_ms <= latest_ms:
            untimely.append(
                RecordError(
                    index,
                    f"Timestamp {record.timestamp_ms} of record {index} is out of range: it must"
                    f" be within [{earliest_ms}, {latest_ms}].",
                )
            )
    if untimely:
        errors = sorted([*keyless, *untimely])
        raise InvalidTimestamp("records from too far in the past or the future", errors)
    if keyless:
        raise InvalidRecords(f"{len(keyless)} records without a key in a compacted topic", keyless)


def _wrong_timestamp_type(record_count: int) -> InvalidTimestamp:
    message = "A producer may not set the timestamp type to LogAppendTime."
    return InvalidTimestamp(message, [RecordError(n, message) for n in range(record_count)])


def _recompress(
    records: list[Record], header: BatchHeader, target: Compression, config: TopicConfig
) -> bytearray:
    levels = {
        Compression.GZIP: config.compression_gzip_level,
        Compression.LZ4: config.compression_lz4_level,
        Compression.ZSTD: config.compression_zstd_level,
    }
    return build_batch(
        records,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
        compression=target,
        compression_level=levels.get(target),
    )
