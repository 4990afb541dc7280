"""All records of a partition, read in order: how a coordinator gets back what it had written."""

import contextlib
import os
from collections.abc import Iterator

from kbroker.log import PartitionLog
from kbroker.records import (
    BatchHeader,
    Marker,
    Record,
    TruncatedRecords,
    iterate_records,
    read_marker,
    scan_batches,
)

# How much of the log is read at once.
_READ_BYTES = 1 << 20


def stored_records(source: PartitionLog) -> Iterator[tuple[BatchHeader, Record | Marker]]:
    """Every record with the header of its batch, and every marker that ends a transaction.

    Ends where the log ended at the beginning. Raises LogError or RecordsError. It waits for the
    disk, so the shell runs it in a thread.
    """
    offset, end = source.log_start_offset, source.log_end_offset
    while offset < end:
        piece = source.read(offset, _READ_BYTES, up_to=end, at_least_one_batch=True)
        if piece is None:
            return
        data = os.pread(piece.file_descriptor, piece.length, piece.position)
        # The last batch may be cut off; the next piece begins with it.
        with contextlib.suppress(TruncatedRecords):
            for position, header in scan_batches(data):
                if header.is_control:
                    marker = read_marker(data, header, position)
                    if marker is not None:
                        yield header, marker
                else:
                    for record in iterate_records(data, header, position):
                        yield header, record
                offset = header.next_offset
