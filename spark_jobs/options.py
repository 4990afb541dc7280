"""What the jobs ask on their command lines, and how they complain: in one line.

exit code  meaning
---------  ----------------------------------------------------------
        0  done
        1  the cluster or Spark failed, or an audit found something
        2  bad input; one line says what
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NoReturn

DONE = 0
FAILED = 1
BAD_INPUT = 2


class BadInputError(Exception):
    """What somebody asked for makes no sense; the message is one line for them."""


class FailedError(Exception):
    """The cluster does not do what it should; the message is one line."""


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        """End with the line and exit code 2."""
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def job_parser(job: str, summary: str | None) -> Parser:
    """The parser of a job, with the options that all of them have."""
    parser = Parser(prog=job, description=(summary or "").splitlines()[0])
    parser.add_argument(
        "--bootstrap", required=True, metavar="HOST:PORT[,...]", help="brokers to ask first"
    )
    parser.add_argument(
        "--kafka-option",
        action="append",
        default=[],
        type=pair,
        metavar="NAME=VALUE",
        help="an option for Spark's Kafka connector, as kafka.security.protocol=SSL",
    )
    return parser


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    """The options of jobs that stream."""
    parser.add_argument(
        "--checkpoint",
        required=True,
        metavar="PATH",
        help="where the job keeps how far it is; a path that all of the cluster can reach",
    )
    trigger = parser.add_mutually_exclusive_group()
    trigger.add_argument(
        "--once", action="store_true", help="take what is there now, in micro batches, and end"
    )
    trigger.add_argument(
        "--every",
        type=positive_number,
        default=1.0,
        metavar="SECONDS",
        help="run on, and begin a micro batch this often (default: 1)",
    )
    parser.add_argument(
        "--starting-offsets",
        choices=("earliest", "latest"),
        default="earliest",
        help="where to begin without a checkpoint (default: earliest)",
    )
    parser.add_argument(
        "--max-offsets-per-trigger", type=positive_integer, metavar="N", help="size of a batch"
    )
    parser.add_argument(
        "--allow-data-loss",
        action="store_true",
        help="go on if records expired before they were read; otherwise the job fails",
    )


def run_job(job: str, run: Callable[[], int]) -> int:
    """Run a job and turn what it raises for people into a line and an exit code."""
    try:
        return run()
    except BadInputError as error:
        print(f"{job}: {error}", file=sys.stderr)
        return BAD_INPUT
    except FailedError as error:
        print(f"{job}: {error}", file=sys.stderr)
        return FAILED


# Types of options: argparse turns a ValueError or ArgumentTypeError into its one line.


def pair(text: str) -> tuple[str, str]:
    """``NAME=VALUE`` in two."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def names(text: str) -> list[str]:
    """Names between commas; at least one."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("no names in it")
    return found


def instant(text: str) -> datetime:
    """A time such as 2026-03-01T12:00:00, in UTC unless it says otherwise."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time such as 2026-03-01T12:00:00"
        ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def positive_integer(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def positive_number(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def one_line(error: BaseException) -> str:
    """The first line of what an error says; Spark's go on with plans and stack traces."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


def end(job: str, run: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a job on the command line of this process, and end with its exit code."""
    sys.exit(run_job(job, lambda: run(sys.argv[1:])))
