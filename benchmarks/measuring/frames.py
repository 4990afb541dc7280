"""Requests as bytes, ready to be sent: what the raw generator and the guard of costs send.

Versions are the newest that Apache Kafka 4.3.1, kbroker and kfake all know.
"""

import time
from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar, cast

from kbroker.model import Uuid
from kbroker.records import Compression, Record, build_batch
from kbroker.wire import ErrorCode
from kbroker.wire.headers import decode_response, encode_request_frame
from kbroker.wire.message import Request, Response
from kbroker.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kbroker.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kbroker.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from kbroker.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

R = TypeVar("R", bound=Response)

PRODUCE_VERSION = 12
FETCH_VERSION = 16
LIST_OFFSETS_VERSION = 8
METADATA_VERSION = 12

CLIENT_ID = "bench"
# The defaults of Kafka's consumers.
FETCH_MAX_BYTES = 52_428_800
PARTITION_MAX_BYTES = 1_048_576

_LATEST = -1
_LETTERS = bytes(range(ord("A"), ord("Z") + 1))


def frame(request: Request, version: int) -> bytes:
    """A whole frame; the correlation id is 0 until somebody writes another."""
    # None of these requests holds a piece of a file.
    return b"".join(cast(list[bytes], encode_request_frame(0, CLIENT_ID, request, version)))


def batch(
    records: int, record_bytes: int, compression: Compression = Compression.NONE, *, keys: int = 0
) -> bytes:
    """A batch of records of letters, as those of Kafka's own ProducerPerformance.

    With ``keys``, the records have keys of eight bytes, of which there are so many.
    """
    dice = Random(records * record_bytes)
    now_ms = int(time.time() * 1000)
    values = [bytes(dice.choices(_LETTERS, k=record_bytes)) for _ in range(min(records, 256))]
    return bytes(
        build_batch(
            [
                Record(
                    offset=offset,
                    timestamp_ms=now_ms,
                    key=b"%08d" % dice.randrange(keys) if keys else None,
                    value=values[offset % len(values)],
                )
                for offset in range(records)
            ],
            compression=compression,
        )
    )


def produce(topic: str, partitions: Sequence[int], records: bytes, *, acks: int = 1) -> bytes:
    """A batch for each of some partitions of one topic."""
    data = [PartitionProduceData(index=index, records=records) for index in partitions]
    request = ProduceRequest(
        acks=acks,
        timeout_ms=30_000,
        topic_data=[TopicProduceData(name=topic, partition_data=data)],
    )
    return frame(request, PRODUCE_VERSION)


def fetch(
    topic_id: Uuid,
    offsets: dict[int, int],
    *,
    max_bytes: int = PARTITION_MAX_BYTES,
    session_id: int = 0,
    session_epoch: int = -1,
) -> bytes:
    """What is at some offsets of one topic, by partition, now; without a session unless told."""
    partitions = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=max_bytes)
        for index, offset in offsets.items()
    ]
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=FETCH_MAX_BYTES,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[FetchTopic(topic_id=topic_id, partitions=partitions)] if partitions else [],
    )
    return frame(request, FETCH_VERSION)


def session_epoch_position() -> int:
    """Where the epoch of a session stands in a frame of `fetch`."""
    nowhere = Uuid(bytes(16))
    one, two = (fetch(nowhere, {}, session_epoch=epoch) for epoch in (1, 2))
    (last,) = (at for at, (left, right) in enumerate(zip(one, two, strict=True)) if left != right)
    return last - 3


def list_offsets(partitions: Mapping[str, int]) -> bytes:
    """The ends of all partitions of some topics, of which it is told how many they have."""
    topics = [
        ListOffsetsTopic(
            name=name,
            partitions=[
                ListOffsetsPartition(partition_index=index, timestamp=_LATEST)
                for index in range(count)
            ],
        )
        for name, count in partitions.items()
    ]
    return frame(ListOffsetsRequest(replica_id=-1, topics=topics), LIST_OFFSETS_VERSION)


def metadata(topic: str | None) -> bytes:
    """One topic, or all."""
    topics = None if topic is None else [MetadataRequestTopic(name=topic)]
    return frame(MetadataRequest(topics=topics), METADATA_VERSION)


def answer(kind: type[R], version: int, body: bytes) -> R:
    """What came back for a frame of this module."""
    _, response = decode_response(kind, version, body, 0, len(body))
    return response


def refuse_errors(codes: Sequence[int]) -> None:
    """AssertionError if an answer carries an error: what was measured was not the work."""
    bad = [ErrorCode(code).name for code in codes if code != ErrorCode.NONE]
    assert not bad, f"answered with {bad[0]}"
