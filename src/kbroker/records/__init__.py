"""Record batches as bytes: read, check, stamp, open and build them, without any I/O.

header       BatchHeader, read, summed up and stamped in place; scanning a row of batches
produced     the check of a batch from a client
record       Record, and reading the records of a batch
builder      batches from records, also those that compaction leaves
control      transaction markers and other control records
compression  gzip, snappy, lz4 and zstd, bounded
limits       Limits, how much one batch may hold
varint       the numbers inside records
errors       RecordsError and its kinds, each with the name of Kafka's error code
"""

from kbroker.records.builder import build_batch, build_own_batch, rebuild_batch
from kbroker.records.control import (
    ControlType,
    Marker,
    build_marker_batch,
    control_type_of,
    marker_of,
    read_marker,
)
from kbroker.records.errors import (
    BatchTooLarge,
    CorruptRecords,
    DecompressedTooLarge,
    InvalidBatch,
    RecordsError,
    TruncatedRecords,
    UnsupportedCompression,
    UnsupportedMagic,
)
from kbroker.records.header import (
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    BatchHeader,
    Buffer,
    Compression,
    crc_matches,
    read_header,
    scan_batches,
    stamp,
    stamp_create_time,
    stamp_log_append_time,
    stamp_max_timestamp,
)
from kbroker.records.limits import DEFAULT_LIMITS, Limits
from kbroker.records.produced import check_produced
from kbroker.records.record import Header, Record, iterate_records, parse_records

__all__ = [
    "BatchHeader",
    "Buffer",
    "Compression",
    "HEADER_BYTES",
    "LENGTH_OVERHEAD_BYTES",
    "NO_LEADER_EPOCH",
    "NO_PRODUCER_EPOCH",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "check_produced",
    "crc_matches",
    "read_header",
    "scan_batches",
    "stamp",
    "stamp_create_time",
    "stamp_log_append_time",
    "stamp_max_timestamp",
    "Header",
    "Record",
    "iterate_records",
    "parse_records",
    "build_batch",
    "build_own_batch",
    "rebuild_batch",
    "ControlType",
    "Marker",
    "build_marker_batch",
    "control_type_of",
    "marker_of",
    "read_marker",
    "DEFAULT_LIMITS",
    "Limits",
    "BatchTooLarge",
    "CorruptRecords",
    "DecompressedTooLarge",
    "InvalidBatch",
    "RecordsError",
    "TruncatedRecords",
    "UnsupportedCompression",
    "UnsupportedMagic",
]
