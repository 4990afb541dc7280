"""The transactions that compaction comes across on its way through a log.

It walks the batches in the order of their offsets, from the first segment on, and asks of each:

    batch                   answer
    ----------------------  ------------------------------------------------------------------
    data of an aborted one  aborted: its records may go at once (C4)
    any other data          keep; the marker of its transaction is still needed
    marker                  obsolete if no data of its transaction was met on the way (C3), so
                            that nobody needs it but readers who are in the middle of things
    marker without record   obsolete: an earlier round emptied it

A marker that is kept keeps its entry in the transaction index, if it is that of an abort.
"""

from collections.abc import Iterable, Sequence

from kbroker.log.transaction_index import AbortedEntry
from kbroker.records import BatchHeader, ControlType, Record, control_type_of


class CleanedTransactions:
    """What is known about transactions at one place of the log."""

    __slots__ = ("_aborted", "_observed", "_upcoming", "_with_data", "kept")

    def __init__(self, aborted: Iterable[AbortedEntry]) -> None:
        # Those that begin further on, the next one last.
        self._upcoming = sorted(aborted, key=lambda entry: entry.first_offset, reverse=True)
        # Producer id -> its transaction that will turn out to be aborted.
        self._aborted: dict[int, AbortedEntry] = {}
        # The producers among them whose data was met.
        self._observed: set[int] = set()
        # The producers of committed transactions whose data was met.
        self._with_data: set[int] = set()
        # The aborted ones whose markers stay; whoever writes them to an index empties the list.
        self.kept: list[AbortedEntry] = []

    def is_aborted(self, header: BatchHeader) -> bool:
        """Take note of a data batch; whether its transaction was aborted."""
        self._advance(header)
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._observed.add(header.producer_id)
            return True
        self._with_data.add(header.producer_id)
        return False

    def is_obsolete(self, header: BatchHeader, records: Sequence[Record]) -> bool:
        """Take note of a control batch; whether no data needs it any more."""
        self._advance(header)
        if not records:
            return True
        producer_id = header.producer_id
        control_type = control_type_of(records[0])
        if control_type is ControlType.ABORT:
            entry = self._aborted.pop(producer_id, None)
            if entry is None or producer_id not in self._observed:
                return True
            self._observed.remove(producer_id)
            self.kept.append(entry)
            return False
        if control_type is ControlType.COMMIT and producer_id not in self._with_data:
            return True
        self._with_data.discard(producer_id)
        return False

    def _advance(self, header: BatchHeader) -> None:
        """Let the transactions begin that begin up to this batch."""
        last_offset = header.last_offset
        upcoming = self._upcoming
        while upcoming and upcoming[-1].first_offset <= last_offset:
            entry = upcoming.pop()
            self._aborted.setdefault(entry.producer_id, entry)
        # An entry says where its marker is. One whose marker was passed, or is gone, must not
        # make the producer's next transaction look aborted.
        entry_here = self._aborted.get(header.producer_id)
        if entry_here is not None and entry_here.last_offset < header.base_offset:
            del self._aborted[header.producer_id]
            self._observed.discard(header.producer_id)
