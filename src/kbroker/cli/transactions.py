"""kbroker transactions list | describe | producers | abort."""

import argparse
import time
from argparse import ArgumentTypeError, Namespace

from kbroker.cli.arguments import add_bootstrap, partition, positive
from kbroker.cli.connected import connected, each
from kbroker.cli.tables import UNKNOWN, Cell, print_table
from kbroker.client.cluster import Cluster
from kbroker.client.transactions import (
    NO_OFFSET,
    DescribedTransaction,
    abort_transaction,
    active_producers,
    describe_transaction,
    find_open_transaction,
    list_transactions,
)
from kbroker.model import TopicPartition

# What Kafka calls them; people may write them in small letters.
_STATES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
)  # fmt: skip

_LIST_HEADINGS = ("TRANSACTIONAL ID", "COORDINATOR", "PRODUCER", "STATE")
_DESCRIBE_HEADINGS = (
    "TRANSACTIONAL ID", "COORDINATOR", "PRODUCER", "EPOCH", "STATE", "TIMEOUT", "RUNNING",
    "PARTITIONS",
)  # fmt: skip
_PRODUCER_HEADINGS = (
    "PRODUCER", "EPOCH", "COORDINATOR EPOCH", "LAST SEQUENCE", "LAST TIMESTAMP", "START OFFSET",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One parser per verb."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    listing = verbs.add_parser("list", help="list the transactional ids")
    listing.add_argument(
        "--state",
        metavar="STATE",
        type=_state,
        action="append",
        default=[],
        help=f"only those in this state, or in one of several: {', '.join(_STATES)}",
    )
    listing.add_argument(
        "--producer",
        metavar="ID",
        type=int,
        action="append",
        default=[],
        help="only those of this producer id, or of one of several",
    )
    listing.add_argument(
        "--longer-than-ms",
        metavar="MS",
        type=positive,
        default=-1,
        help="only those that run longer",
    )
    listing.add_argument("--pattern", metavar="REGEX", help="only ids that match")
    listing.set_defaults(verb=_list)

    describe = verbs.add_parser("describe", help="show state, timeout and partitions")
    describe.add_argument("ids", metavar="TRANSACTIONAL_ID", nargs="+")
    describe.set_defaults(verb=_describe)

    producers = verbs.add_parser("producers", help="show who writes to a partition, and since when")
    producers.set_defaults(verb=_producers)

    abort = verbs.add_parser("abort", help="abort a transaction that hangs on a partition")
    which = abort.add_mutually_exclusive_group(required=True)
    which.add_argument("--start-offset", metavar="OFFSET", type=int, help="where it begins")
    which.add_argument("--producer", metavar="ID", type=int, help="the producer id that began it")
    abort.set_defaults(verb=_abort)

    for verb in (producers, abort):
        verb.add_argument("--topic", metavar="TOPIC", required=True)
        verb.add_argument("--partition", metavar="NUMBER", type=partition, required=True)
    for verb in (listing, describe, producers, abort):
        add_bootstrap(verb)


def run(arguments: Namespace) -> int:
    """Do what the verb says."""
    with connected(arguments) as cluster:
        exit_code: int = arguments.verb(cluster, arguments)
    return exit_code


def _list(cluster: Cluster, arguments: Namespace) -> int:
    found = list_transactions(
        cluster,
        states=arguments.state,
        producer_ids=arguments.producer,
        longer_than_ms=arguments.longer_than_ms,
        pattern=arguments.pattern,
    )
    print_table(_LIST_HEADINGS, found)
    return 0


def _describe(cluster: Cluster, arguments: Namespace) -> int:
    """Show what can be shown; one line on stderr for each id that cannot."""
    rows: list[tuple[Cell, ...]] = []
    now_ms = time.time_ns() // 1_000_000
    exit_code = each(
        arguments.ids, lambda name: rows.append(_row(describe_transaction(cluster, name), now_ms))
    )
    if rows:
        print_table(_DESCRIBE_HEADINGS, rows)
    return exit_code


def _row(described: DescribedTransaction, now_ms: int) -> tuple[Cell, ...]:
    is_open = described.state == "Ongoing"
    return (
        described.transactional_id,
        described.coordinator_id,
        described.producer_id,
        described.producer_epoch,
        described.state,
        f"{described.timeout_ms} ms",
        f"{now_ms - described.start_timestamp_ms} ms" if is_open else UNKNOWN,
        " ".join(str(place) for place in described.partitions) or UNKNOWN,
    )


def _producers(cluster: Cluster, arguments: Namespace) -> int:
    rows: list[tuple[Cell, ...]] = [
        (*producer[:-1], UNKNOWN if producer.start_offset == NO_OFFSET else producer.start_offset)
        for producer in active_producers(cluster, _place(arguments))
    ]
    print_table(_PRODUCER_HEADINGS, rows)
    return 0


def _abort(cluster: Cluster, arguments: Namespace) -> int:
    place = _place(arguments)
    producer = find_open_transaction(
        cluster, place, start_offset=arguments.start_offset, producer_id=arguments.producer
    )
    abort_transaction(cluster, place, producer)
    return 0


def _place(arguments: Namespace) -> TopicPartition:
    return TopicPartition(arguments.topic, arguments.partition)


def _state(text: str) -> str:
    for state in _STATES:
        if state.lower() == text.lower():
            return state
    raise ArgumentTypeError(f"{text!r} is none of {', '.join(_STATES)}")
