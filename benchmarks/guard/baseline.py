"""What requests cost when somebody last looked, and how far they may be from it."""

import json
from pathlib import Path

_FILE = Path(__file__).parent / "baseline.json"
# Versions of Python and trio differ by less; what a changed hot path adds is usually more.
MARGIN = 1.25


def load() -> dict[str, float]:
    """Calls for each request, by what it is."""
    found: dict[str, float] = json.loads(_FILE.read_text())
    return found


def record(counted: dict[str, float]) -> None:
    """Let these be the baseline from now on."""
    _FILE.write_text(json.dumps(counted, indent=1) + "\n")


def complaints(counted: dict[str, float], baseline: dict[str, float]) -> list[str]:
    """What has grown beyond the margin, in words."""
    return [
        f"{name}: {counted[name]:.0f} calls a request, {calls:.0f} in the baseline"
        for name, calls in baseline.items()
        if counted[name] > calls * MARGIN
    ]
