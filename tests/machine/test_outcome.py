import dataclasses

import pytest

from kbroker.machine import Outcome, Ticket


def test_an_empty_outcome_asks_for_nothing():
    assert Outcome() == Outcome(records=(), replies=())


def test_outcomes_add_up_in_order():
    first = Outcome(records=("a",), replies=((Ticket(1), "x"),))
    second = Outcome(records=("b",), replies=((Ticket(2), "y"),))

    assert first + second == Outcome(
        records=("a", "b"), replies=((Ticket(1), "x"), (Ticket(2), "y"))
    )


def test_effects_add_up_in_order_too():
    first = Outcome(records=("a",), effects=("write markers",))
    second = Outcome(replies=((Ticket(2), "y"),), effects=("fence",))

    assert first + second == Outcome(
        records=("a",), replies=((Ticket(2), "y"),), effects=("write markers", "fence")
    )


def test_an_outcome_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Outcome().records = ("a",)
