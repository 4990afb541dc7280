"""How much of the machine others had: processor time that a hypervisor gave to its other guests.

On a shared host that may be half of all time for a while, and then figures tell about the
neighbours. The kernel counts it (`steal` in /proc/stat; always 0 on a machine of one's own).
"""

from pathlib import Path

# Where the first line of /proc/stat has it, behind the word "cpu".
_STEAL = 7
_FIELDS = 8


class Stolen:
    """Time that was taken away, from now on."""

    def __init__(self) -> None:
        self._before = _ticks()

    def percent(self) -> float:
        """The share of all processor time since the beginning, in percent."""
        now = _ticks()
        passed = sum(now) - sum(self._before)
        return 100 * (now[_STEAL] - self._before[_STEAL]) / max(1, passed)


def _ticks() -> list[int]:
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return [int(word) for word in words[1 : 1 + _FIELDS]]
