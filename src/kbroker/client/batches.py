"""What lies in a log, batch by batch: also what no application sees.

Applications see records. Whoever asks why an offset has none must look at the batches: markers of
transactions take offsets, aborted records keep theirs, and compaction takes records out of batches
or whole batches out of the log.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kbroker.client.aborted import AbortedBatches
from kbroker.client.cluster import Cluster
from kbroker.client.consuming import send_fetch
from kbroker.client.errors import BadAnswer, raise_refusal
from kbroker.client.topics import NEW_TOPIC_PATIENCE_S, READ_COMMITTED
from kbroker.records import (
    BatchHeader,
    RecordsError,
    TruncatedRecords,
    crc_matches,
    iterate_records,
    scan_batches,
)
from kbroker.wire.messages.fetch import FetchResponse, PartitionData


class FoundBatch(NamedTuple):
    """A batch, whether its transaction was aborted, and the offsets of the records left in it."""

    header: BatchHeader
    is_aborted: bool
    offsets: tuple[int, ...]


def read_batches(
    cluster: Cluster, topic: str, partition: int, *, first: int, end: int
) -> Iterator[FoundBatch]:
    """The batches that reach into the offsets from ``first`` on and before ``end``.

    Nothing behind the last stable offset is read: what is aborted is not known there. Raises
    BrokerError, ConnectionFailed or BadAnswer after retrying what may pass.
    """
    position = first
    while position < end:

        def attempt(at: int = position) -> PartitionData:
            return _fetch(cluster, topic, partition, at)

        answer = cluster.retry(attempt, unknown_topic_s=NEW_TOPIC_PATIENCE_S)
        found = _batches_in(answer, f"{topic}-{partition}")
        if not found:
            return
        for batch in found:
            if batch.header.base_offset >= end:
                return
            if batch.header.next_offset > first:
                yield batch
        position = found[-1].header.next_offset


def _fetch(cluster: Cluster, topic: str, partition: int, offset: int) -> PartitionData:
    topic_id = cluster.topic(topic).topic_id
    [leader] = cluster.by_leader(topic, [partition])
    send_fetch(leader, topic, topic_id, {partition: offset}, isolation_level=READ_COMMITTED)
    response = leader.receive()
    assert isinstance(response, FetchResponse)
    raise_refusal(response.error_code, subject=topic)
    [answer] = [part for each in response.responses for part in each.partitions]
    raise_refusal(answer.error_code, subject=f"{topic}-{partition}")
    return answer


def _batches_in(answer: PartitionData, subject: str) -> list[FoundBatch]:
    """The whole batches of an answer; the last one may be cut and comes again."""
    records = answer.records
    if not isinstance(records, bytes | bytearray | memoryview):
        return []
    aborted = AbortedBatches(answer.aborted_transactions or ())
    found: list[FoundBatch] = []
    try:
        for place, header in scan_batches(records):
            if not crc_matches(records, place, header):
                raise BadAnswer(f"{subject}: the batch at offset {header.base_offset} is damaged")
            is_aborted = aborted.includes(records, place, header)
            offsets = [record.offset for record in iterate_records(records, header, place)]
            found.append(FoundBatch(header, is_aborted, tuple(offsets)))
    except TruncatedRecords:
        pass
    except RecordsError as error:
        raise BadAnswer(f"{subject}: cannot read what the broker sent: {error}") from error
    return found
