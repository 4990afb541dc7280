"""Why offsets have no record: the batches in the log tell.

    what lies at a missing offset                       it is
    --------------------------------------------------  -----------
    a control batch: the end of a transaction           a marker
    a record of an aborted transaction                  aborted
    no record, in a topic with compaction               compacted
    no record, in a topic without                       unexplained
    a record that a reader of committed data should see unexplained

Only what lies between the first and the last missing offset of a partition is read, by the driver.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from kbroker.client.batches import FoundBatch

Range = tuple[int, int]  # the first and the last offset, inclusive


@dataclass
class Explanation:
    """How many missing offsets of a partition there are of each kind."""

    markers: int = 0
    aborted: int = 0
    compacted: int = 0
    unexplained: int = 0

    @property
    def missing(self) -> int:
        """All of them."""
        return self.markers + self.aborted + self.compacted + self.unexplained


def explain(
    missing: Sequence[Range], batches: Iterable[FoundBatch], *, is_compacted: bool
) -> Explanation:
    """Go through missing ranges and batches side by side; both are in the order of offsets."""
    found = Explanation()
    at = 0
    for batch in batches:
        header = batch.header
        # Ranges that end before this batch concern no later one either.
        while at < len(missing) and missing[at][1] < header.base_offset:
            at += 1
        for first, last in islice(missing, at, None):
            if first > header.last_offset:
                break
            low, high = max(first, header.base_offset), min(last, header.last_offset)
            present = sum(low <= offset <= high for offset in batch.offsets)
            if header.is_control:
                found.markers += present
            elif batch.is_aborted:
                found.aborted += present
            else:
                found.unexplained += present
    # What no batch has: compaction took it, or nobody knows who did.
    rest = sum(last - first + 1 for first, last in missing) - found.missing
    if is_compacted:
        found.compacted += rest
    else:
        found.unexplained += rest
    return found
