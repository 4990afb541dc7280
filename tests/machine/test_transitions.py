from enum import Enum

import pytest

from kbroker.machine import Transitions


class State(Enum):
    EMPTY = 1
    STABLE = 2
    DEAD = 3


MOVES = Transitions(
    {
        State.EMPTY: {State.STABLE, State.DEAD},
        State.STABLE: {State.EMPTY, State.DEAD},
        State.DEAD: set(),
    }
)


def test_a_legal_move_returns_the_new_state():
    assert MOVES.move(State.EMPTY, State.STABLE) is State.STABLE


def test_an_illegal_move_is_an_assertion_that_names_both_states():
    with pytest.raises(AssertionError, match="from DEAD to EMPTY"):
        MOVES.move(State.DEAD, State.EMPTY)


def test_staying_is_a_move_like_any_other():
    assert not MOVES.allows(State.STABLE, State.STABLE)
    assert MOVES.allows(State.STABLE, State.EMPTY)


def test_a_table_names_every_state():
    with pytest.raises(AssertionError, match="DEAD"):
        Transitions({State.EMPTY: {State.STABLE}, State.STABLE: set()})
