"""The entry point ``kbroker``: finds the command, runs it, turns its end into an exit code.

Only the module of the command that was given is imported, so that no command pays for another.

    exit code  meaning
    ---------  ------------------------------------------------------
            0  done
            1  the cluster refused or cannot be reached; one line says why
            2  bad input; one line says what
          130  Ctrl-C
          141  whoever read our output has stopped reading, as `head` does
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import NoReturn, Protocol, cast

from kbroker.cli.errors import BAD_INPUT, REFUSED, CommandError

# Name, module and what it does, in the order of the help.
_COMMANDS = {
    "start": ("kbroker.cli.start", "start a broker"),
    "topics": ("kbroker.cli.topics", "create, list, describe, alter and delete topics"),
    "groups": ("kbroker.cli.groups", "list, describe and delete groups, and reset their offsets"),
    "transactions": (
        "kbroker.cli.transactions",
        "list and describe transactions, and abort those that hang",
    ),
    "produce": ("kbroker.cli.produce", "write lines from standard input to a topic"),
    "consume": ("kbroker.cli.consume", "print the records of a topic"),
}
_INTERRUPTED = 130
_PIPE_CLOSED = 141


class Command(Protocol):
    """What the module of a command has."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Tell the parser what the command takes."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; gives the exit code, or raises CommandError."""


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one line; the subparsers it makes are of its kind."""

    def error(self, message: str) -> NoReturn:
        """End with the line and exit code 2."""
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


class _ShowVersion(argparse.Action):
    """``--version``; looks the version up only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"kbroker {version('kbroker')}")
        parser.exit(0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in ``arguments``, those of the process by default; gives the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        parsed = _parse(words)
        try:
            exit_code: int = parsed.run(parsed)
        finally:
            # Here a closed pipe can still be handled; at the end of the process it cannot.
            sys.stdout.flush()
    except CommandError as error:
        _complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return _PIPE_CLOSED
    except OSError as error:
        _complain(str(error))
        return REFUSED
    return exit_code


def _parse(words: list[str]) -> argparse.Namespace:
    """The parsed arguments, whose ``run`` is the command's; SystemExit after help or complaints."""
    parser = _Parser(
        prog="kbroker", description="A Kafka broker in Python, and commands for any Kafka cluster."
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    # The options before a command take no values, so its name is the first other word.
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, (module, summary) in _COMMANDS.items():
        subparser = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name == chosen:
            command = cast(Command, import_module(module))
            command.add_arguments(subparser)
            subparser.set_defaults(run=command.run)
    return parser.parse_args(words)


def _complain(line: str) -> None:
    print(f"kbroker: {line}", file=sys.stderr)


def _forget_stdout() -> None:
    """Let the interpreter's last flush of stdout go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
