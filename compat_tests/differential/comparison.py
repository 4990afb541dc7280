"""Differences between two runs, and which of them are explained.

An explanation names steps and fields with the wildcards of `fnmatch`, and says what each of the
two brokers answers where that is the same everywhere. It must be needed: one that covers no
difference any more is as wrong as a difference that no explanation covers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from compat_tests.differential.answers import Table, Value

# What a broker "answers" in a field that its answer does not have.
ABSENT = "<absent>"


class _Anything:
    """Stands for whatever value a broker gives."""

    def __repr__(self) -> str:
        return "ANYTHING"


ANYTHING = _Anything()


class Difference(NamedTuple):
    """One field of one step's answer."""

    step: str
    field: str
    kafka: Value
    kbroker: Value

    def __str__(self) -> str:
        return f"{self.step}: {self.field}: Kafka {self.kafka!r}, kbroker {self.kbroker!r}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why some steps' fields differ."""

    step: str
    field: str
    reason: str
    kafka: Value | _Anything = ANYTHING
    kbroker: Value | _Anything = ANYTHING

    def covers(self, difference: Difference) -> bool:
        """Whether the difference is one of those that are explained here."""
        return (
            _is(self.kafka, difference.kafka)
            and _is(self.kbroker, difference.kbroker)
            and fnmatchcase(difference.step, _pattern(self.step))
            and fnmatchcase(difference.field, _pattern(self.field))
        )


def differences(kafka: Mapping[str, Table], kbroker: Mapping[str, Table]) -> Iterator[Difference]:
    """Every field that is not the same in both runs, in the order of the steps."""
    assert list(kafka) == list(kbroker), "the two runs took different steps"
    for step, theirs in kafka.items():
        ours = kbroker[step]
        for field in (*theirs, *(ours.keys() - theirs.keys())):
            a, b = theirs.get(field, ABSENT), ours.get(field, ABSENT)
            if a != b:
                yield Difference(step, field, a, b)


def unexplained(
    found: Sequence[Difference], explanations: Sequence[Explanation]
) -> list[Difference]:
    """The differences that nobody explains."""
    return [one for one in found if not any(each.covers(one) for each in explanations)]


def unneeded(found: Sequence[Difference], explanations: Sequence[Explanation]) -> list[Explanation]:
    """The explanations of differences that are not there."""
    return [each for each in explanations if not any(each.covers(one) for one in found)]


def _is(wanted: Value | _Anything, value: Value) -> bool:
    return isinstance(wanted, _Anything) or wanted == value


def _pattern(text: str) -> str:
    """Only ``*`` is a wildcard: brackets are part of a field's name."""
    return text.replace("[", "[[]").replace("?", "[?]")
