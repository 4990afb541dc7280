"""Version ranges as the protocol reference writes them: "3+", "0-12", "5", "none"."""

from collections.abc import Iterator
from dataclasses import dataclass

# No message comes near this; it stands for "and all later ones".
OPEN_END = 32767


@dataclass(frozen=True, slots=True)
class VersionRange:
    """All versions from ``first`` to ``last``, both included; empty if ``first > last``."""

    first: int
    last: int

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last

    def __bool__(self) -> bool:
        return self.first <= self.last

    def __iter__(self) -> Iterator[int]:
        assert self.last < OPEN_END, "an open range has no last version to iterate to"
        return iter(range(self.first, self.last + 1))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.last == OPEN_END:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


NEVER = VersionRange(0, -1)

# Ranges repeat hundreds of times across the messages; they are shared.
_parsed: dict[str, VersionRange] = {"none": NEVER}


def parse_versions(text: str) -> VersionRange:
    """The range that ``text`` writes; ValueError if it writes none."""
    found = _parsed.get(text)
    if found is None:
        if text.endswith("+"):
            found = VersionRange(int(text[:-1]), OPEN_END)
        else:
            first, _, last = text.partition("-")
            found = VersionRange(int(first), int(last or first))
        _parsed[text] = found
    return found
