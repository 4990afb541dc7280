"""One suite of somebody else, and the list of its tests that pass: a list that only grows.

A list has one test in each line, ``quick`` or ``slow`` before its name. The quick ones are part of
``make test``. ``make compat`` runs the whole suite, tests that are on no list too, and says which
of those pass now, so that they can be added.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

# Set by ``make compat``.
_EVERYTHING = "all"


def whole_suites() -> bool:
    """Whether everything shall run, and not only what is listed as quick."""
    return os.environ.get("UPSTREAM") == _EVERYTHING


@dataclass(frozen=True, slots=True)
class PassingList:
    """The tests that passed before; ``quick`` is a part of ``tests``."""

    tests: frozenset[str]
    quick: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> "PassingList":
        """The list of a file; ValueError with the line that is not of its form."""
        tests, quick = set(), set()
        for line in path.read_text().splitlines():
            if not line or line.startswith("#"):
                continue
            speed, _, name = line.partition(" ")
            if speed not in ("quick", "slow") or not name.strip() or name in tests:
                raise ValueError(f"{path}: {line!r} is not a new test with its speed")
            tests.add(name)
            if speed == "quick":
                quick.add(name)
        return cls(frozenset(tests), frozenset(quick))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of each test that ran, and all that the suite printed."""

    results: Mapping[str, str]
    output: str

    def missing(self, expected: Collection[str]) -> list[str]:
        """Those of ``expected`` that did not pass, each with what became of it."""
        return [
            f"{name}: {self.results.get(name, 'did not run')}"
            for name in sorted(expected)
            if self.results.get(name) != "passed"
        ]

    def newly_passing(self, known: Collection[str]) -> list[str]:
        """Those that passed and are not ``known``."""
        passed = (name for name, result in self.results.items() if result == "passed")
        return sorted(name for name in passed if name not in known)
