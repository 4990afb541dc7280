"""Control records: what brokers write among the data for one another and for consumers.

A control batch holds one record whose key is a version and a type. Types 0 and 1 end a
transaction on this partition; their value is a version and the epoch of the coordinator that
decided. Types 2 to 6 belong to KRaft's own log; a consumer skips types it does not know, and so
do we, as long as the key can be read.
"""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

from kbroker.records.builder import build_batch
from kbroker.records.errors import CorruptRecords
from kbroker.records.header import NO_LEADER_EPOCH, NO_SEQUENCE, BatchHeader, Buffer
from kbroker.records.record import Record, parse_records

_KEY = Struct(">hh")  # version, type
_VALUE = Struct(">hi")  # version, coordinator epoch

# Kafka reads keys and values of later versions too: they may only grow at the end.
_CURRENT_VERSION = 0


class ControlType(IntEnum):
    """What a control record says."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6
    UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Marker:
    """The end of a transaction: ``committed`` or aborted, by a coordinator of that epoch."""

    committed: bool
    coordinator_epoch: int


def build_marker_batch(
    *,
    producer_id: int,
    producer_epoch: int,
    committed: bool,
    coordinator_epoch: int,
    timestamp_ms: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """The batch of one marker: transactional, control, and without a sequence."""
    control_type = ControlType.COMMIT if committed else ControlType.ABORT
    marker = Record(
        offset=base_offset,
        timestamp_ms=timestamp_ms,
        key=_KEY.pack(_CURRENT_VERSION, control_type),
        value=_VALUE.pack(_CURRENT_VERSION, coordinator_epoch),
    )
    return build_batch(
        [marker],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=NO_SEQUENCE,
        is_transactional=True,
        is_control=True,
    )


def control_type_of(record: Record) -> ControlType:
    """What the record of a control batch says; CorruptRecords if its key is none."""
    key = record.key
    if key is None or len(key) < _KEY.size:
        raise CorruptRecords("a control record without version and type")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise CorruptRecords(f"a control record of version {version}")
    try:
        return ControlType(number)
    except ValueError:
        return ControlType.UNKNOWN


def marker_of(record: Record) -> Marker | None:
    """The transaction marker in a control record, or None if it is of another type."""
    control_type = control_type_of(record)
    if control_type not in (ControlType.ABORT, ControlType.COMMIT):
        return None
    value = record.value
    if value is None or len(value) < _VALUE.size:
        raise CorruptRecords("a transaction marker without coordinator epoch")
    version, coordinator_epoch = _VALUE.unpack_from(value)
    if version < 0:
        raise CorruptRecords(f"a transaction marker of version {version}")
    return Marker(control_type is ControlType.COMMIT, coordinator_epoch)


def read_marker(buffer: Buffer, header: BatchHeader, position: int = 0) -> Marker | None:
    """The marker of the control batch at ``position``; None if it holds none.

    None is also the answer for a control batch whose record compaction has removed.
    """
    assert header.is_control, "only control batches hold markers"
    records = parse_records(buffer, header, position)
    return marker_of(records[0]) if records else None
