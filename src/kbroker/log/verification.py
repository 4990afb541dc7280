"""The question that a partition asks before the first write of a transaction (VerificationState).

Whether a producer has a transaction open, and this partition in it, only the coordinator knows. It
is asked before the first batch, and the answer may come late: the transaction may have ended
meanwhile. So each question is an object; a batch that brings it back is taken only while it still
stands, and whatever writes for the producer or ends its transaction here takes it away (T2). In
version 2 a marker has the epoch of the transaction after the one it ends; a question with that
epoch is about the next transaction, and stands.

The lowest sequence that asked is kept, because the batch that has it may have to come again:
taken before it, a higher one would make it out of order for ever (T3).
"""

from kbroker.log.errors import OutOfOrderSequence
from kbroker.records import BatchHeader


class Verification:
    """One producer's question, from its first batch to the first that is written."""

    __slots__ = ("asked_ms", "lowest_sequence", "producer_epoch", "takes_epochs")

    def __init__(self, header: BatchHeader, *, takes_epochs: bool, now_ms: int) -> None:
        """Ask for a batch; ``takes_epochs`` in version 2, where each transaction begins with 0."""
        self.producer_epoch = header.producer_epoch
        self.lowest_sequence = header.base_sequence
        self.takes_epochs = takes_epochs
        self.asked_ms = now_ms

    def ask_again(self, header: BatchHeader, *, takes_epochs: bool) -> None:
        """Another batch wants to know the same, or a newer epoch something else."""
        self.takes_epochs = takes_epochs
        if header.producer_epoch > self.producer_epoch:
            self.producer_epoch = header.producer_epoch
            self.lowest_sequence = header.base_sequence
        elif header.producer_epoch == self.producer_epoch:
            self.lowest_sequence = min(self.lowest_sequence, header.base_sequence)

    def is_ended_by(self, marker_epoch: int) -> bool:
        """Whether a marker ends the transaction that the question is about."""
        return not self.takes_epochs or marker_epoch > self.producer_epoch

    def check_sequence(self, header: BatchHeader, *, is_known: bool) -> None:
        """Raise OutOfOrderSequence for a batch that must not be the first one."""
        sequence = header.base_sequence
        if sequence > self.lowest_sequence:
            raise OutOfOrderSequence(
                f"sequence {sequence} of producer {header.producer_id} comes before"
                f" {self.lowest_sequence}"
            )
        if self.takes_epochs and not is_known and sequence != 0:
            raise OutOfOrderSequence(
                f"sequence {sequence} of producer {header.producer_id} begins its first"
                " transaction here"
            )
