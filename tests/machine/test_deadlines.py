from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kbroker.machine import Deadlines


def test_an_empty_set_has_no_deadline():
    assert Deadlines().next_deadline() is None


def test_the_earliest_deadline_is_next():
    deadlines = Deadlines()
    deadlines.set("late", 20.0)
    deadlines.set("early", 10.0)

    assert deadlines.next_deadline() == 10.0
    assert list(deadlines.due(9.9)) == []
    assert list(deadlines.due(10.0)) == ["early"]
    assert deadlines.next_deadline() == 20.0


def test_setting_a_key_again_moves_its_deadline():
    deadlines = Deadlines()
    deadlines.set("session", 10.0)
    deadlines.set("session", 30.0)

    assert list(deadlines.due(29.0)) == []
    assert deadlines.get("session") == 30.0
    assert len(deadlines) == 1


def test_a_cancelled_deadline_never_falls_due():
    deadlines = Deadlines()
    deadlines.set("session", 10.0)

    assert deadlines.cancel("session")
    assert not deadlines.cancel("session")
    assert "session" not in deadlines
    assert deadlines.next_deadline() is None


def test_ties_come_out_in_the_order_they_were_set():
    deadlines = Deadlines()
    for key in ("b", "c", "a"):
        deadlines.set(key, 5.0)
    deadlines.set("b", 5.0)

    assert list(deadlines.due(5.0)) == ["c", "a", "b"]


def test_keys_are_never_compared():
    deadlines = Deadlines()
    deadlines.set(("member", 1), 5.0)
    deadlines.set("rebalance", 5.0)
    deadlines.set(7, 5.0)

    assert list(deadlines.due(5.0)) == [("member", 1), "rebalance", 7]


def test_a_key_cancelled_while_others_fall_due_stays_silent():
    deadlines = Deadlines()
    for key in ("a", "b", "c"):
        deadlines.set(key, 1.0)
    seen = []
    for key in deadlines.due(1.0):
        seen.append(key)
        deadlines.cancel("b")

    assert seen == ["a", "c"]


def test_a_deadline_set_for_the_past_falls_due_in_the_same_pass():
    deadlines = Deadlines()
    deadlines.set("a", 1.0)
    seen = []
    for key in deadlines.due(2.0):
        seen.append(key)
        if key == "a":
            deadlines.set("b", 0.5)

    assert seen == ["a", "b"]


def test_extending_a_deadline_again_and_again_leave_no_garbage_behind():
    deadlines = Deadlines()
    for turn in range(20_000):
        deadlines.set(turn % 50, float(turn))

    assert len(deadlines) == 50
    assert len(deadlines._heap) <= 2 * 50


class DeadlinesAgainstAList(RuleBasedStateMachine):
    """The same calls on Deadlines and on a list that is sorted whenever asked."""

    def __init__(self):
        super().__init__()
        self.deadlines = Deadlines()
        self.model: list[tuple[float, int, int]] = []
        self.pushes = 0

    @rule(key=st.integers(0, 9), at=st.integers(0, 20))
    def set(self, key, at):
        self.pushes += 1
        self.model = [entry for entry in self.model if entry[2] != key]
        self.model.append((float(at), self.pushes, key))
        self.deadlines.set(key, float(at))

    @rule(key=st.integers(0, 9))
    def cancel(self, key):
        had_it = any(entry[2] == key for entry in self.model)
        self.model = [entry for entry in self.model if entry[2] != key]
        assert self.deadlines.cancel(key) == had_it

    @rule(now=st.integers(0, 20), at_most=st.integers(0, 10))
    def take_some_of_what_is_due(self, now, at_most):
        expected = [key for at, _, key in sorted(self.model) if at <= now][:at_most]
        taken = [key for key, _ in zip(self.deadlines.due(now), range(at_most), strict=False)]
        # zip takes one key more than it hands out, unless the due ones run out first.
        lost = [key for at, _, key in sorted(self.model) if at <= now][at_most : at_most + 1]
        assert taken == expected
        gone = set(expected + lost)
        self.model = [entry for entry in self.model if entry[2] not in gone]

    @invariant()
    def they_agree(self):
        assert self.deadlines.next_deadline() == min((at for at, _, _ in self.model), default=None)
        assert len(self.deadlines) == len(self.model)
        for at, _, key in self.model:
            assert self.deadlines.get(key) == at
        assert len(self.deadlines._heap) <= max(64, 2 * len(self.model))


TestDeadlinesAgainstAList = DeadlinesAgainstAList.TestCase
TestDeadlinesAgainstAList.settings = settings(max_examples=100, stateful_step_count=60)


@given(st.lists(st.tuples(st.integers(0, 200), st.floats(0, 1000)), max_size=400))
def test_everything_set_comes_out_once_and_in_order(settings_made):
    deadlines = Deadlines()
    latest = {}
    for key, at in settings_made:
        deadlines.set(key, at)
        latest.pop(key, None)
        latest[key] = at  # a moved deadline counts as set anew, also in the order of the dict

    assert list(deadlines.due(1000)) == sorted(latest, key=latest.__getitem__)
    assert len(deadlines) == 0
