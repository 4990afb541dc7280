"""What a state machine wants done after one call.

A core never awaits, writes or sends. It returns an outcome, and the shell that
drives it does the rest in one fixed order: commit the records, then start the
effects, then send the replies.

Three rules bind every shell:

* No reply leaves before every record of its outcome is committed.
* An outcome without records still waits for the records of the outcomes before
  it: it may have been decided on state that is not committed yet.
* An effect is work outside, whose result comes back as an event. It starts only
  after the records are committed, so that what was decided survives a failover
  and the effect can be ordered again; each must therefore be harmless when it
  happens twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NewType, TypeVar

# A request that waits for its answer. The shell hands out the numbers and keeps
# the way back to the client; a core stores them and names them in its replies.
Ticket = NewType("Ticket", int)

Record = TypeVar("Record")
Response = TypeVar("Response")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Record, Response]):
    """All the shell must do after one call: records, then effects, then replies.

    No reply may leave BEFORE every record is committed: a client that has seen
    a reply must not find, after a failover, that nothing happened. Most cores
    have no effects; whoever drives one that has knows which they are.

    Build it as ``Outcome(...)``: Python 3.11 cannot call a frozen class with
    slots through its subscripted form, ``Outcome[A, B](...)``.
    """

    records: tuple[Record, ...] = ()
    replies: tuple[tuple[Ticket, Response], ...] = ()
    effects: tuple[object, ...] = ()

    def __add__(self, later: Outcome[Record, Response]) -> Outcome[Record, Response]:
        """This outcome followed by ``later``, as one commit."""
        return Outcome(
            self.records + later.records,
            self.replies + later.replies,
            self.effects + later.effects,
        )
