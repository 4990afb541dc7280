"""kbroker consume: the records of a topic, a line each, until Ctrl-C or as far as asked.

There is no group and nothing is committed: reading changes nothing.
"""

import argparse
import sys
from argparse import Namespace
from collections.abc import Callable

from kbroker.cli.arguments import add_bootstrap, partition, positive, start
from kbroker.cli.connected import connected
from kbroker.cli.lines import TextForm, json_line
from kbroker.client.consuming import Consumed, Consumer, Start

_ISOLATION_LEVELS = ("read_uncommitted", "read_committed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument(
        "--from",
        dest="start",
        metavar="WHERE",
        type=start,
        help="beginning, end, an offset, an ISO 8601 time (UTC unless it names a zone) or "
        "@MILLISECONDS (default: beginning with --exit-at-end, else end)",
    )
    parser.add_argument(
        "--partition",
        metavar="P",
        type=partition,
        action="append",
        default=[],
        help="read this one; may be given several times (default: all)",
    )
    parser.add_argument("--max", metavar="N", type=positive, help="stop after N records")
    ending = parser.add_mutually_exclusive_group()
    ending.add_argument(
        "--exit-at-end", action="store_true", help="stop at what is the end of the log now"
    )
    ending.add_argument(
        "--follow", action="store_true", help="wait for more records (this is the default)"
    )
    parser.add_argument("--keys", action="store_true", help="show keys before values")
    parser.add_argument("--headers", action="store_true", help="show headers before keys")
    parser.add_argument("--timestamps", action="store_true", help="show times before all else")
    parser.add_argument("--json", action="store_true", help="show all fields, as JSON")
    parser.add_argument(
        "--isolation",
        choices=_ISOLATION_LEVELS,
        default=_ISOLATION_LEVELS[0],
        help="whether to leave out records of open and aborted transactions",
    )
    add_bootstrap(parser)


def run(arguments: Namespace) -> int:
    """Print records until told to stop."""
    begin: Start | None = arguments.start
    if begin is None:
        begin = Start.earliest() if arguments.exit_at_end else Start.latest()
    line_of = _form(arguments)
    output = sys.stdout.buffer
    with connected(arguments) as cluster:
        consumer = Consumer(
            cluster,
            arguments.topic,
            start=begin,
            partitions=sorted(set(arguments.partition)),
            read_committed=arguments.isolation == "read_committed",
        )
        printed = 0
        while not (arguments.exit_at_end and consumer.at_end()):
            consumed = consumer.poll()
            if arguments.max is not None:
                consumed = consumed[: arguments.max - printed]
            output.writelines(line_of(each) + b"\n" for each in consumed)
            output.flush()
            printed += len(consumed)
            if printed == arguments.max:
                break
    return 0


def _form(arguments: Namespace) -> Callable[[Consumed], bytes]:
    if arguments.json:
        return lambda consumed: json_line(arguments.topic, consumed)
    form = TextForm(keys=arguments.keys, headers=arguments.headers, timestamps=arguments.timestamps)
    return form.line
