"""The states of a transactional id, and which may follow which.

    Empty            initialised; no transaction has begun
    Ongoing          partitions are being written to
    PrepareCommit    decided, and durable; markers are being written
    PrepareAbort     the same, with the other decision
    CompleteCommit   every partition has its marker; the next transaction may begin
    CompleteAbort    the same
    Dead             nobody used the id for so long that it is forgotten
    PrepareEpochFence  a newer producer, or the timeout, takes the transaction from its producer

The last two are never written: a fence goes on to PrepareAbort, and the dead leave a tombstone.
A decision is never taken back (T4): nothing leads from one Prepare to the other, nor to Ongoing.
"""

from enum import IntEnum

from kbroker.machine import Transitions


class TransactionState(IntEnum):
    """The number is that of the records, see `title` for the name that clients see."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def title(self) -> str:
        """The name in ListTransactions and DescribeTransactions, and in Kafka's tools."""
        return self.name.title().replace("_", "")


_S = TransactionState

MOVES: Transitions[TransactionState] = Transitions(
    {
        # An abort without a beginning is how a producer of version 2 gets a new epoch.
        _S.EMPTY: {_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT, _S.DEAD},
        _S.ONGOING: {_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT, _S.PREPARE_EPOCH_FENCE},
        _S.PREPARE_EPOCH_FENCE: {_S.PREPARE_ABORT},
        _S.PREPARE_COMMIT: {_S.COMPLETE_COMMIT},
        _S.PREPARE_ABORT: {_S.COMPLETE_ABORT},
        _S.COMPLETE_COMMIT: {_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT, _S.DEAD},
        _S.COMPLETE_ABORT: {_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT, _S.DEAD},
        _S.DEAD: set(),
    }
)

PREPARED = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
# Between transactions: a producer may be initialised, and an id that nobody uses may be forgotten.
AT_REST = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})

BY_TITLE = {state.title: state for state in TransactionState}
