"""The one shape of every state machine: values in, an Outcome out, time as a question.

outcome      Outcome, what a core wants done; Ticket, a parked request
deadlines    Deadlines, the moments a core waits for, by name
transitions  Transitions, the legal moves of an enumeration of states
"""

from kbroker.machine.deadlines import Deadlines
from kbroker.machine.outcome import Outcome, Ticket
from kbroker.machine.transitions import Transitions

__all__ = ["Outcome", "Ticket", "Deadlines", "Transitions"]
