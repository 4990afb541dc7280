"""kbroker groups list | describe | delete | reset-offsets."""

import argparse
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from itertools import groupby

from kbroker.cli import reset_offsets
from kbroker.cli.arguments import add_bootstrap
from kbroker.cli.connected import connected, each
from kbroker.cli.tables import UNKNOWN, Cell, or_unknown, print_table
from kbroker.client.cluster import Cluster
from kbroker.client.group_offsets import PartitionLag, partition_lags
from kbroker.client.groups import (
    CONSUMER_PROTOCOL,
    DescribedGroup,
    GroupMember,
    delete_group,
    describe_group,
    list_groups,
)
from kbroker.model import TopicPartition

# What Kafka calls them; people may write them in small letters.
_STATES = (
    "Empty", "Assigning", "Reconciling", "PreparingRebalance", "CompletingRebalance", "Stable",
    "NotReady", "Dead",
)  # fmt: skip
_TYPES = ("classic", "consumer", "share", "streams")

_LIST_HEADINGS = ("GROUP", "TYPE", "PROTOCOL", "STATE")
_STATE_HEADINGS = (
    "GROUP", "STATE", "TYPE", "PROTOCOL", "ASSIGNOR", "MEMBERS", "COORDINATOR", "ADDRESS",
)  # fmt: skip
_LAG_HEADINGS = (
    "GROUP", "TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER", "CLIENT", "HOST",
)  # fmt: skip
_MEMBER_HEADINGS = (
    "GROUP", "MEMBER", "INSTANCE", "CLIENT", "HOST", "PARTITIONS", "ASSIGNMENT",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One parser per verb."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    listing = verbs.add_parser("list", help="list the groups")
    listing.add_argument(
        "--state",
        metavar="STATE",
        type=_state,
        action="append",
        default=[],
        help=f"only groups in this state, or in one of several: {', '.join(_STATES)}",
    )
    listing.add_argument(
        "--type",
        metavar="TYPE",
        type=_type,
        action="append",
        default=[],
        help=f"only groups of this type, or of one of several: {', '.join(_TYPES)}",
    )
    listing.set_defaults(verb=_list)

    describe = verbs.add_parser("describe", help="show offsets, lag and members")
    describe.add_argument("groups", metavar="GROUP", nargs="+")
    view = describe.add_mutually_exclusive_group()
    view.add_argument("--members", action="store_true", help="a row per member instead")
    view.add_argument("--state", action="store_true", help="a row per group instead")
    describe.set_defaults(verb=_describe)

    delete = verbs.add_parser("delete", help="delete groups without members, with their offsets")
    delete.add_argument("groups", metavar="GROUP", nargs="+")
    delete.set_defaults(verb=_delete)

    reset = verbs.add_parser("reset-offsets", help="move the offsets of a group without members")
    reset_offsets.add_arguments(reset)
    reset.set_defaults(verb=reset_offsets.reset)

    for verb in (listing, describe, delete, reset):
        add_bootstrap(verb)


def run(arguments: Namespace) -> int:
    """Do what the verb says."""
    with connected(arguments) as cluster:
        exit_code: int = arguments.verb(cluster, arguments)
    return exit_code


def _list(cluster: Cluster, arguments: Namespace) -> int:
    rows: list[tuple[Cell, ...]] = [
        (group.group_id, group.group_type, or_unknown(group.protocol_type), or_unknown(group.state))
        for group in list_groups(cluster, states=arguments.state, types=arguments.type)
    ]
    print_table(_LIST_HEADINGS, rows)
    return 0


def _describe(cluster: Cluster, arguments: Namespace) -> int:
    """Show what can be shown; one line on stderr for each group that cannot."""
    if arguments.state:
        rows: list[tuple[Cell, ...]] = []
        exit_code = each(
            arguments.groups, lambda name: rows.append(_state_row(describe_group(cluster, name)))
        )
        if rows:
            print_table(_STATE_HEADINGS, rows)
        return exit_code
    show = _show_members if arguments.members else _show_offsets
    return each(arguments.groups, lambda name: show(cluster, describe_group(cluster, name)))


def _delete(cluster: Cluster, arguments: Namespace) -> int:
    return each(arguments.groups, lambda name: delete_group(cluster, name))


# What is shown


def _show_offsets(cluster: Cluster, group: DescribedGroup) -> None:
    lags = partition_lags(cluster, group)
    total = sum(lag.lag or 0 for lag in lags)
    _show_facts(group, [f"total lag {total}"])
    _show_rows(_LAG_HEADINGS, [_lag_row(group, lag) for lag in lags])


def _show_members(_: Cluster, group: DescribedGroup) -> None:
    _show_facts(group, [])
    _show_rows(_MEMBER_HEADINGS, [_member_row(group, member) for member in group.members])


def _show_facts(group: DescribedGroup, more: list[str]) -> None:
    """The group in a line; in a pipe it begins with a hash, so that it is easily left out."""
    facts = [group.state, f"{group.group_type} group"]
    if group.protocol_type not in ("", CONSUMER_PROTOCOL):
        facts.append(f"protocol {group.protocol_type}")
    if group.assignor:
        facts.append(f"assignor {group.assignor}")
    facts.append(_count(len(group.members), "member"))
    facts.append(f"coordinator {group.coordinator_id} ({group.coordinator})")
    line = f"{group.group_id}: {', '.join(facts + more)}"
    print(line if sys.stdout.isatty() else f"# {line}")


def _show_rows(headings: Sequence[str], rows: list[tuple[Cell, ...]]) -> None:
    """A table below the facts; on a terminal those have named the group already."""
    if sys.stdout.isatty():
        if rows:
            print_table(headings[1:], [row[1:] for row in rows], indent="  ")
    else:
        print_table(headings, rows)


def _state_row(group: DescribedGroup) -> tuple[Cell, ...]:
    return (
        group.group_id,
        group.state,
        group.group_type,
        or_unknown(group.protocol_type),
        or_unknown(group.assignor),
        len(group.members),
        group.coordinator_id,
        str(group.coordinator),
    )


def _lag_row(group: DescribedGroup, lag: PartitionLag) -> tuple[Cell, ...]:
    owner = lag.owner
    return (
        group.group_id,
        *lag.partition,
        or_unknown(lag.committed),
        or_unknown(lag.log_end),
        or_unknown(lag.lag),
        or_unknown(owner and owner.member_id),
        or_unknown(owner and owner.client_id),
        or_unknown(owner and owner.host),
    )


def _member_row(group: DescribedGroup, member: GroupMember) -> tuple[Cell, ...]:
    return (
        group.group_id,
        member.member_id,
        or_unknown(member.instance_id),
        or_unknown(member.client_id),
        or_unknown(member.host),
        len(member.partitions),
        assignment_text(member.partitions),
    )


def assignment_text(partitions: Sequence[TopicPartition]) -> str:
    """Sorted partitions as ``--topic`` takes them: ``orders:0,1 payments:3``."""
    topics = groupby(partitions, key=lambda each: each.topic)
    return (
        " ".join(
            f"{topic}:{','.join(str(each.partition) for each in numbers)}"
            for topic, numbers in topics
        )
        or UNKNOWN
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# What is written


def _state(text: str) -> str:
    return _one_of(_STATES, text)


def _type(text: str) -> str:
    return _one_of(_TYPES, text)


def _one_of(names: Sequence[str], text: str) -> str:
    """The name in Kafka's spelling, whatever the case it was written in."""
    for name in names:
        if name.lower() == text.lower():
            return name
    raise ArgumentTypeError(f"{text!r} is none of {', '.join(names)}")
