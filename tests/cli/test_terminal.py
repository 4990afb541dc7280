"""Tables on a terminal, which here is a pseudo-terminal of a given width."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

PROGRAM = """
from kbroker.cli.tables import print_table
print_table(("TOPIC", "CONFIG", "N"), [("t" * 50, "c" * 30, 7), ("short", "x", 123456)])
"""


def output_on_terminal(columns: int) -> list[str]:
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            stdout=theirs,
            env={**environment, "PYTHONIOENCODING": "utf-8"},
            timeout=60,
            check=True,
        )
        return os.read(ours, 10_000).decode().splitlines()
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_narrow_terminal_gets_a_table_that_fits():
    heading, long, short = output_on_terminal(40)

    assert heading.split() == ["TOPIC", "CONFIG", "N"]
    assert len(long) == 40
    assert long.count("…") == 2
    assert short.split() == ["short", "x", "123456"]


def test_a_wide_terminal_gets_everything():
    _, long, _ = output_on_terminal(200)

    assert long.split() == ["t" * 50, "c" * 30, "7"]
