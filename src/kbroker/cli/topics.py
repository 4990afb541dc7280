"""kbroker topics create | list | describe | alter | delete."""

import argparse
import sys
from argparse import Namespace

from kbroker.cli.arguments import add_bootstrap, positive, setting
from kbroker.cli.connected import connected, each
from kbroker.cli.errors import CommandError
from kbroker.cli.tables import UNKNOWN, Cell, print_table
from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError, raise_refusal
from kbroker.client.topics import (
    EARLIEST,
    LATEST,
    configure_topic,
    create_topic,
    delete_topic,
    grow_topic,
    list_offsets,
    topic_settings,
)
from kbroker.model import ZERO_UUID, uuid_to_text
from kbroker.wire.messages.metadata import MetadataResponsePartition, MetadataResponseTopic

_PARTITION_HEADINGS = ("TOPIC", "PARTITION", "LEADER", "REPLICAS", "ISR", "START", "END")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One parser per verb."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    create = verbs.add_parser("create", help="create a topic")
    create.add_argument("name", metavar="NAME")
    create.add_argument("--partitions", metavar="N", type=positive)
    create.add_argument("--replication-factor", metavar="N", type=positive)
    create.add_argument("--config", metavar="NAME=VALUE", type=setting, action="append", default=[])
    create.set_defaults(verb=_create)

    listing = verbs.add_parser("list", help="list the topics")
    listing.add_argument("--internal", action="store_true", help="also those of the brokers")
    listing.set_defaults(verb=_list)

    describe = verbs.add_parser("describe", help="show partitions, offsets and configs")
    describe.add_argument("names", metavar="NAME", nargs="*", help="all topics if none is named")
    describe.set_defaults(verb=_describe)

    alter = verbs.add_parser("alter", help="add partitions, change configs")
    alter.add_argument("name", metavar="NAME")
    alter.add_argument("--partitions", metavar="N", type=positive, help="how many it shall have")
    alter.add_argument("--config", metavar="NAME=VALUE", type=setting, action="append", default=[])
    alter.add_argument(
        "--delete-config", metavar="NAME", action="append", default=[], help="back to its default"
    )
    alter.set_defaults(verb=_alter)

    delete = verbs.add_parser("delete", help="delete topics with all their records")
    delete.add_argument("names", metavar="NAME", nargs="+")
    delete.set_defaults(verb=_delete)

    for verb in (create, listing, describe, alter, delete):
        add_bootstrap(verb)


def run(arguments: Namespace) -> int:
    """Do what the verb says."""
    with connected(arguments) as cluster:
        exit_code: int = arguments.verb(cluster, arguments)
    return exit_code


def _create(cluster: Cluster, arguments: Namespace) -> int:
    create_topic(
        cluster,
        arguments.name,
        partitions=arguments.partitions,
        replication_factor=arguments.replication_factor,
        configs=dict(arguments.config),
    )
    return 0


def _list(cluster: Cluster, arguments: Namespace) -> int:
    topics = [topic for topic in _all_topics(cluster) if arguments.internal or _is_ours(topic)]
    rows: list[tuple[Cell, ...]] = [
        (topic.name or "", len(topic.partitions), _replication_factor(topic)) for topic in topics
    ]
    print_table(("TOPIC", "PARTITIONS", "REPLICAS"), rows)
    return 0


def _describe(cluster: Cluster, arguments: Namespace) -> int:
    """Show what can be shown; one line on stderr for each topic that cannot."""
    if not arguments.names:
        for topic in _all_topics(cluster):
            if _is_ours(topic):
                _show(cluster, topic)
        return 0

    def show(name: str) -> None:
        (topic,) = cluster.metadata([name]).topics
        raise_refusal(topic.error_code, subject=name)
        _show(cluster, topic)

    return each(arguments.names, show)


def _alter(cluster: Cluster, arguments: Namespace) -> int:
    change = dict(arguments.config)
    both = change.keys() & set(arguments.delete_config)
    if both:
        raise CommandError(f"{min(both)} cannot be set and deleted at one time")
    if not change and not arguments.delete_config and arguments.partitions is None:
        raise CommandError("say what to alter: --partitions, --config or --delete-config")
    # Configs first: they are refused more often, and partitions cannot be taken back.
    if change or arguments.delete_config:
        configure_topic(cluster, arguments.name, change=change, remove=arguments.delete_config)
    if arguments.partitions is not None:
        grow_topic(cluster, arguments.name, arguments.partitions)
    return 0


def _delete(cluster: Cluster, arguments: Namespace) -> int:
    return each(arguments.names, lambda name: delete_topic(cluster, name))


def _all_topics(cluster: Cluster) -> list[MetadataResponseTopic]:
    topics = cluster.retry(lambda: cluster.metadata(None)).topics
    return sorted(topics, key=lambda topic: topic.name or "")


def _is_ours(topic: MetadataResponseTopic) -> bool:
    """Whether the topic belongs to applications, not to the brokers."""
    return not topic.is_internal


def _replication_factor(topic: MetadataResponseTopic) -> int:
    return max((len(partition.replica_nodes) for partition in topic.partitions), default=0)


def _show(cluster: Cluster, topic: MetadataResponseTopic) -> None:
    """The topic, its configs, and a row per partition.

    In a pipe the lines that are no rows begin with a hash, so that they are easily left out.
    """
    name = topic.name or ""
    settings = topic_settings(cluster, name)
    on_terminal = sys.stdout.isatty()
    facts = [
        f"{len(topic.partitions)} partitions",
        f"replication factor {_replication_factor(topic)}",
    ]
    if topic.topic_id != ZERO_UUID:
        facts.append(f"id {uuid_to_text(topic.topic_id)}")
    print(f"{name}: {', '.join(facts)}" if on_terminal else f"# {name}: {', '.join(facts)}")
    for config, value in settings:
        shown = "(hidden)" if value is None else value
        print(f"  {config}={shown}" if on_terminal else f"# {name}: {config}={shown}")
    starts = _offsets(cluster, topic, EARLIEST)
    ends = _offsets(cluster, topic, LATEST)
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            partition.partition_index,
            partition.leader_id if partition.leader_id >= 0 else UNKNOWN,
            _brokers(partition.replica_nodes),
            _brokers(partition.isr_nodes),
            starts.get(partition.partition_index, UNKNOWN),
            ends.get(partition.partition_index, UNKNOWN),
        )
        for partition in sorted(topic.partitions, key=_number)
    ]
    if on_terminal:
        print_table(_PARTITION_HEADINGS[1:], [row[1:] for row in rows], indent="  ")
    else:
        print_table(_PARTITION_HEADINGS, rows)


def _offsets(cluster: Cluster, topic: MetadataResponseTopic, timestamp: int) -> dict[int, int]:
    """One end of the partitions that have a leader; none if those do not answer."""
    led = [partition for partition in topic.partitions if partition.leader_id >= 0]
    try:
        return list_offsets(
            cluster, topic.name or "", {_number(partition): timestamp for partition in led}
        )
    except ClientError:
        return {}


def _number(partition: MetadataResponsePartition) -> int:
    return partition.partition_index


def _brokers(node_ids: list[int]) -> str:
    return ",".join(map(str, node_ids)) or UNKNOWN
