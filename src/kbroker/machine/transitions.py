"""The legal moves between the states of one machine, as a table.

    class State(Enum):
        EMPTY = 1
        STABLE = 2
        DEAD = 3

    MOVES = Transitions({
        State.EMPTY: {State.STABLE, State.DEAD},
        State.STABLE: {State.EMPTY, State.DEAD},
        State.DEAD: set(),
    })

    self._state = MOVES.move(self._state, State.STABLE)

A move outside the table is a bug in the machine, never a client's fault, so it
is an assertion and not an error code.
"""

from collections.abc import Mapping, Set
from enum import Enum
from typing import Generic, TypeVar

State = TypeVar("State", bound=Enum)


class Transitions(Generic[State]):
    """A table that names, for every state, the states that may follow it."""

    __slots__ = ("_following",)

    def __init__(self, following: Mapping[State, Set[State]]) -> None:
        states = set(type(next(iter(following))))
        assert set(following) == states, f"no row for {states - set(following)}"
        self._following = {state: frozenset(moves) for state, moves in following.items()}

    def allows(self, old: State, new: State) -> bool:
        """Whether the table lets ``new`` follow ``old``."""
        return new in self._following[old]

    def move(self, old: State, new: State) -> State:
        """Return ``new``, which must be allowed to follow ``old``."""
        assert new in self._following[old], f"illegal move from {old.name} to {new.name}"
        return new
