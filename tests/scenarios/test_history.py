"""The checker finds each anomaly in a history made by hand, and nothing in a sound one."""

import pytest

from tests.scenarios.history import History, Place

VALUES = [b"a", b"b", b"c"]


def history(
    *,
    acknowledged: dict[bytes, int],
    found: list[tuple[int, bytes]],
    sent: list[bytes] | None = None,
) -> History:
    """One producer and one partition."""
    made = History()
    for value in VALUES if sent is None else sent:
        made.sent("t", 0, value)
    for value, offset in acknowledged.items():
        made.acknowledged(value, Place("t", 0, offset))
    made.read("t", 0, found)
    return made


def kinds(made: History) -> set[str]:
    return {anomaly.kind for anomaly in made.anomalies()}


@pytest.mark.parametrize(
    ("acknowledged", "found"),
    [
        ({b"a": 0, b"b": 1, b"c": 2}, [(0, b"a"), (1, b"b"), (2, b"c")]),
        ({b"a": 0}, [(0, b"a"), (1, b"b")]),  # written, and the answer was lost
        ({b"a": 0}, [(0, b"a")]),  # never written, or lost before anybody was told
        ({b"b": 0}, [(0, b"b")]),  # the first one failed
        ({}, []),
    ],
)
def test_a_sound_history_has_no_anomalies(acknowledged, found):
    assert history(acknowledged=acknowledged, found=found).anomalies() == []


def test_an_acknowledged_value_that_is_not_there_is_lost():
    made = history(acknowledged={b"a": 0, b"b": 1}, found=[(0, b"a")])

    assert kinds(made) == {"lost"}


def test_a_value_lost_before_others_leaves_a_gap_or_moves_them():
    with_gap = history(acknowledged={b"a": 0, b"b": 1, b"c": 2}, found=[(0, b"a"), (2, b"c")])
    moved = history(acknowledged={b"a": 0, b"b": 1, b"c": 2}, found=[(0, b"a"), (1, b"c")])

    assert kinds(with_gap) == {"lost", "gap"}
    assert kinds(moved) == {"lost", "inconsistent offset"}


def test_a_value_at_two_offsets_is_a_duplicate():
    made = history(acknowledged={b"a": 0}, found=[(0, b"a"), (1, b"a"), (2, b"b")])

    assert kinds(made) == {"duplicate"}


def test_a_duplicate_behind_later_values_is_reordered_too():
    made = history(acknowledged={b"a": 0}, found=[(0, b"a"), (1, b"b"), (2, b"a")])

    assert kinds(made) == {"duplicate", "reordered"}


def test_a_value_in_another_partition_is_a_phantom_there():
    made = history(acknowledged={b"a": 0}, found=[(0, b"a")])
    made.read("t", 1, [(0, b"b")])

    assert kinds(made) == {"phantom"}


def test_a_value_at_another_offset_than_acknowledged_is_inconsistent():
    made = history(acknowledged={b"a": 7}, found=[(0, b"a")])

    assert kinds(made) == {"inconsistent offset"}


def test_two_values_acknowledged_at_one_offset_are_inconsistent():
    made = history(acknowledged={b"a": 0, b"b": 0}, found=[(0, b"a"), (1, b"b")])

    assert kinds(made) == {"inconsistent offset"}


def test_values_out_of_the_order_of_their_sends_are_reordered():
    made = history(acknowledged={b"b": 0, b"a": 1}, found=[(0, b"b"), (1, b"a")])

    assert kinds(made) == {"reordered"}


def test_a_value_that_nobody_sent_is_a_phantom():
    made = history(acknowledged={}, found=[(0, b"a"), (1, b"x")], sent=[b"a"])

    assert kinds(made) == {"phantom"}


def test_the_first_gap_of_a_partition_is_told():
    made = history(acknowledged={}, found=[(0, b"a"), (2, b"b"), (5, b"c")])

    assert [anomaly.kind for anomaly in made.anomalies()] == ["gap"]


def test_a_value_cannot_be_acknowledged_twice():
    made = history(acknowledged={b"a": 0}, found=[])

    with pytest.raises(AssertionError):
        made.acknowledged(b"a", Place("t", 0, 1))
