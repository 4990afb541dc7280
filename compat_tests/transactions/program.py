"""A client in another language: a program that does what lines tell it, and answers with lines.

The words of a line are separated by tabs. The program knows

    open <transactional id> <timeout ms>         ok <number of the producer>
    begin|commit|abort <producer>                ok
    send <producer> <topic> <partition> <values, separated by commas>
    copy <producer> <source> <target> <group> <count> commit|abort    ok <values>
    read <topic> <partition> read_committed|read_uncommitted <timeout ms>    ok <values>

and answers ``ok``, ``refused <why>`` when a transaction cannot go on, or ``error <why>``.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from compat_tests.contract_transactions import Refused


class ProgramTransactor:
    """One producer of the program."""

    def __init__(self, program: "TransactorProgram", number: str) -> None:
        self._program = program
        self._number = number

    def begin(self) -> None:
        self._program.ask("begin", self._number)

    def send(self, topic: str, values: Sequence[str], partition: int = 0) -> None:
        self._program.ask("send", self._number, topic, str(partition), ",".join(values))

    def commit(self) -> None:
        self._program.ask("commit", self._number)

    def abort(self) -> None:
        self._program.ask("abort", self._number)

    def copy(self, source: str, target: str, group: str, count: int, *, commit: bool) -> list[str]:
        end = "commit" if commit else "abort"
        words = (self._number, source, target, group, str(count), end)
        return _values(self._program.ask("copy", *words))


class TransactorProgram:
    """The program; ends with `close`."""

    def __init__(self, command: Sequence[str], stderr_file: Path) -> None:
        self._stderr_file = stderr_file
        with stderr_file.open("ab") as stderr:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
            )

    def close(self) -> None:
        """End it, with all its producers."""
        with self._process:
            self._process.kill()

    def transactor(self, transactional_id: str, *, timeout_ms: int) -> ProgramTransactor:
        return ProgramTransactor(self, self.ask("open", transactional_id, str(timeout_ms)))

    def read(
        self, topic: str, *, committed: bool, timeout_s: float, partition: int = 0
    ) -> list[str]:
        isolation = "read_committed" if committed else "read_uncommitted"
        words = (topic, str(partition), isolation, str(int(timeout_s * 1000)))
        return _values(self.ask("read", *words))

    def ask(self, *words: str) -> str:
        """The answer to one line; raises `Refused`, or AssertionError for an error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join(words) + "\n")
        self._process.stdin.flush()
        kind, _, answer = self._process.stdout.readline().rstrip("\n").partition("\t")
        if kind == "refused":
            raise Refused(answer)
        said = self._stderr_file.read_text(errors="replace")[-3000:]
        assert kind == "ok", f"{words}: {kind} {answer}\n{said}"
        return answer


def _values(answer: str) -> list[str]:
    return answer.split(",") if answer else []
