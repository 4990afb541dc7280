"""kcat as a client program; `make kcat` installs it."""

import sys
from pathlib import Path

from compat_tests.kcat import VERSION
from compat_tests.program import ClientProgram
from compat_tests.scenarios import OF_MEMBERS, SCENARIOS

_CAN = {
    "produce, acks=0",
    "produce to a new topic",
    "consume",
    "compress: gzip",
    "compress: snappy",
    "compress: lz4",
    "compress: zstd",
    "many partitions",
    "seek",
    "seek in a batch",
    "watermarks",
    "by time",
    "group: resume",
    "error: too large",
    "error: offset out of range",
}


def _reason(scenario: str) -> str:
    if scenario.startswith(("admin", "error")):
        return "the tool does not administrate"
    if scenario.startswith("transaction"):
        return "the tool has no transactions"
    if scenario in OF_MEMBERS:
        return "the tool does not tell which partitions it owns"
    if scenario in ("produce", "idempotence"):
        return "the tool tells no offsets of what it sends"
    return "the command line has no means to give or show it byte by byte"


PROGRAMS = (
    ClientProgram(
        name="kcat",
        version=VERSION,
        folder="kcat",
        serve=(sys.executable, "-m", "compat_tests.serve", "kcat.adapter"),
        needs=Path("/usr/bin/kcat"),
        installed_by="make kcat",
        not_applicable={
            scenario.name: _reason(scenario.name)
            for scenario in SCENARIOS
            if scenario.name not in _CAN
        },
    ),
)
