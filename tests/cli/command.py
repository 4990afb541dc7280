"""``kbroker`` as people run it: a process with arguments, input, output and an exit code."""

import os
import subprocess
import sys
from typing import NamedTuple

COMMAND = [sys.executable, "-m", "kbroker.cli.main"]


class Ended(NamedTuple):
    exit_code: int
    output: str
    complaint: str


class Kbroker:
    """Runs commands against one cluster."""

    def __init__(self, bootstrap: str) -> None:
        self.environment = {**os.environ, "KBROKER_BOOTSTRAP": bootstrap}

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Ended:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        result = subprocess.run(
            [*COMMAND, *arguments],
            input=data,
            capture_output=True,
            timeout=60,
            check=False,
            env=self.environment,
        )
        assert b"Traceback" not in result.stderr, result.stderr.decode()
        return Ended(result.returncode, result.stdout.decode(), result.stderr.decode())

    def done(self, *arguments: str, stdin: str | bytes = "") -> list[str]:
        """The lines that a command prints which must succeed in silence."""
        ended = self(*arguments, stdin=stdin)
        assert (ended.exit_code, ended.complaint) == (0, ""), ended
        return ended.output.splitlines()

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """A command that goes on; the caller ends it."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
        )
