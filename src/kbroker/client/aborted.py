"""Which batches of a fetch a reader of committed data does not see.

A broker answers such a reader with records up to the last stable offset, so every transaction in
them has ended. It adds a list of the aborted ones: producer and first offset. From that offset on
the batches of that producer are aborted, until its next abort marker.
"""

from collections.abc import Iterable

from kbroker.records import BatchHeader, Buffer, read_marker
from kbroker.wire.messages.fetch import AbortedTransaction


class AbortedBatches:
    """Tells for each batch of one fetched partition, in their order, whether it was aborted."""

    def __init__(self, transactions: Iterable[AbortedTransaction]) -> None:
        # The next one to begin stands last.
        self._to_begin = sorted(
            ((found.first_offset, found.producer_id) for found in transactions), reverse=True
        )
        self._open: set[int] = set()

    def includes(self, buffer: Buffer, position: int, header: BatchHeader) -> bool:
        """Whether the batch at ``position`` belongs to an aborted transaction.

        Ask for every batch, also for control batches: they close transactions.
        """
        while self._to_begin and self._to_begin[-1][0] <= header.last_offset:
            self._open.add(self._to_begin.pop()[1])
        if header.is_control:
            marker = read_marker(buffer, header, position)
            if marker is not None and not marker.committed:
                self._open.discard(header.producer_id)
            return False
        return header.is_transactional and header.producer_id in self._open
