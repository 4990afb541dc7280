"""kbroker groups reset-offsets: say where a group without members shall go on."""

import argparse
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable

from kbroker.cli.arguments import moment, offset, partition
from kbroker.cli.errors import REFUSED, CommandError
from kbroker.cli.tables import Cell, or_unknown, print_table
from kbroker.client.cluster import Cluster
from kbroker.client.consuming import Start
from kbroker.client.errors import BrokerError
from kbroker.client.group_offsets import Shift, commit_offsets, committed_offsets, plan_moves
from kbroker.client.groups import EMPTY, describe_group
from kbroker.client.topics import NEW_TOPIC_PATIENCE_S
from kbroker.model import TopicPartition
from kbroker.wire import ErrorCode

_HEADINGS = ("TOPIC", "PARTITION", "OLD", "NEW")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The group, which partitions, where to, and whether it is meant seriously."""
    parser.add_argument("group", metavar="GROUP")

    scope = parser.add_mutually_exclusive_group(required=True)
    scope.add_argument(
        "--topic",
        metavar="TOPIC[:N,N]",
        type=topic_scope,
        action="append",
        default=[],
        help="a topic, or some of its partitions; may be given several times",
    )
    scope.add_argument(
        "--all-topics", action="store_true", help="all partitions that have a committed offset"
    )

    target = parser.add_mutually_exclusive_group(required=True)
    for option, place, words in (
        ("--to-earliest", Start.earliest(), "the beginnings of the logs"),
        ("--to-latest", Start.latest(), "the ends of the logs"),
    ):
        target.add_argument(option, dest="target", action="store_const", const=place, help=words)
    for option, metavar, read, words in (
        ("--to-offset", "N", offset, "one offset for all partitions"),
        ("--to-datetime", "TIME", moment, "the first records that are not older (ISO 8601, UTC)"),
        ("--shift-by", "N", shift, "back from the committed offsets if negative, else forth"),
    ):
        target.add_argument(option, dest="target", metavar=metavar, type=read, help=words)

    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")


def reset(cluster: Cluster, arguments: Namespace) -> int:
    """Commit the new offsets, and show them beside the old ones."""
    group_id: str = arguments.group
    _refuse_if_active(cluster, group_id)
    if arguments.all_topics:
        partitions = sorted(committed_offsets(cluster, group_id))
        if not partitions:
            raise CommandError(f"{group_id}: the group has committed no offsets", REFUSED)
    else:
        partitions = cluster.retry(
            lambda: _partitions(cluster, arguments.topic), unknown_topic_s=NEW_TOPIC_PATIENCE_S
        )
    moves = plan_moves(cluster, group_id, partitions, arguments.target)
    if not arguments.dry_run:
        commit_offsets(cluster, group_id, {move.partition: move.new for move in moves})
    rows: list[tuple[Cell, ...]] = [
        (*move.partition, or_unknown(move.old), move.new) for move in moves
    ]
    print_table(_HEADINGS, rows)
    return 0


def _refuse_if_active(cluster: Cluster, group_id: str) -> None:
    """CommandError if the group has members, who would not notice that their offsets moved.

    A group that is not there may be given offsets: that is how to say where its first member
    shall begin.
    """
    try:
        group = describe_group(cluster, group_id)
    except BrokerError as error:
        if error.code is ErrorCode.GROUP_ID_NOT_FOUND:
            return
        raise
    if group.state != EMPTY:
        raise CommandError(
            f"{group_id}: the group is {group.state}; offsets can only be reset while it is Empty",
            REFUSED,
        )


def _partitions(
    cluster: Cluster, scopes: Iterable[tuple[str, tuple[int, ...]]]
) -> list[TopicPartition]:
    """All that the scopes name, each once; BrokerError if a topic or partition is not there."""
    named = set()
    for topic, numbers in scopes:
        if numbers:
            found = [cluster.partition(topic, number) for number in numbers]
        else:
            found = cluster.topic(topic).partitions
        named |= {TopicPartition(topic, each.partition_index) for each in found}
    return sorted(named)


def topic_scope(text: str) -> tuple[str, tuple[int, ...]]:
    """A topic and the partitions that are named behind a colon, none for all."""
    topic, colon, numbers = text.partition(":")
    if not topic:
        raise ArgumentTypeError(f"{text!r} is not TOPIC or TOPIC:N,N")
    return topic, tuple(partition(number) for number in numbers.split(",")) if colon else ()


def shift(text: str) -> Shift:
    """How far to go from where the group is."""
    try:
        return Shift(int(text))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None
