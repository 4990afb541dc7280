"""Metadata, DescribeTopicPartitions and DescribeCluster."""

from compat_tests.differential.run import Run
from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.messages.describe_cluster import DescribeClusterRequest
from kbroker.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
    TopicRequest,
)
from kbroker.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

NEWEST = 13
_LONGEST_NAME = 249


def metadata(run: Run) -> None:
    topic_id = run.create("meta", partitions=3)
    run.create("meta.dotted")
    for version in range(NEWEST + 1):
        topics: list[MetadataRequestTopic] | None = [] if version == 0 else None
        run.ask(f"metadata of all v{version}", MetadataRequest(topics=topics), version)
        run.ask(
            f"metadata of one v{version}",
            MetadataRequest(topics=[MetadataRequestTopic(name="meta")]),
            version,
        )
    run.ask("metadata of no topics", MetadataRequest(topics=[]), NEWEST)
    for version in (4, 8, 12):
        _ask(run, f"metadata of an unknown topic v{version}", version, _named("nowhere"))
    _ask(run, "metadata of one topic twice", NEWEST, _named("meta"), _named("meta"))
    for kind, name in (
        ("no name", ""),
        ("a dot", "."),
        ("two dots", ".."),
        ("a blank", "a b"),
        ("an umlaut", "täglich"),
        ("250 letters", "x" * (_LONGEST_NAME + 1)),
    ):
        _ask(run, f"metadata, topic named with {kind}", NEWEST, _named(name))
        _ask(run, f"metadata to create {kind}", NEWEST, _named(name), create=True)
    _authorised_operations(run)
    _by_id(run, topic_id)
    _auto_creation(run)


def _authorised_operations(run: Run) -> None:
    for version in (8, 10, 11, NEWEST):
        request = MetadataRequest(
            topics=[_named("meta"), _named("nowhere")],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=True,
            include_cluster_authorized_operations=version <= 10,
        )
        run.ask(f"metadata with authorised operations v{version}", request, version)


def _by_id(run: Run, topic_id: bytes) -> None:
    known, unknown = Uuid(topic_id), Uuid(b"\x01" * 16)
    run.names.topics[unknown] = "<unknown id>"
    for version in (10, 11, 12, NEWEST):
        _ask(run, f"metadata by id v{version}", version, _with_id(known, version))
        _ask(run, f"metadata by unknown id v{version}", version, _with_id(unknown, version))
    zero = MetadataRequestTopic(topic_id=ZERO_UUID, name=None)
    _ask(run, "metadata by neither id nor name", NEWEST, zero)
    both = MetadataRequestTopic(topic_id=known, name="meta")
    _ask(run, "metadata by id and name", NEWEST, both)
    _ask(run, "metadata by id, and another by name", NEWEST, both, _named("meta.dotted"))


def _auto_creation(run: Run) -> None:
    for version in (0, 3, 4, 9, NEWEST):
        topic = f"automatic-{version}"
        _ask(run, f"metadata creates a topic v{version}", version, _named(topic), create=True)
        run.wait_for(topic)
        _ask(run, f"metadata of the created topic v{version}", version, _named(topic), create=True)
    _ask(run, "metadata to create what collides", NEWEST, _named("meta_dotted"), create=True)


def describe_topic_partitions(run: Run) -> None:
    run.create("parts-a", partitions=3)
    run.create("parts-b", partitions=2)
    _describe(run, "partitions of one topic", "parts-a")
    _describe(run, "partitions of two topics", "parts-b", "parts-a")
    _describe(run, "partitions of an unknown topic", "nowhere")
    _describe(run, "partitions of an invalid topic", "a b")
    _describe(run, "partitions of one topic twice", "parts-a", "parts-a")
    for limit in (-1, 0, 1, 2, 3, 4, 5):
        _describe(run, f"at most {limit} partitions", "parts-a", "parts-b", limit=limit)
    for topic, index in (
        ("parts-a", 0),
        ("parts-a", 2),
        ("parts-a", 3),
        ("parts-a", 99),
        ("parts-a", -1),
        ("parts-b", 1),
        ("parts-aa", 0),
        ("z", 0),
    ):
        cursor = RequestCursor(topic_name=topic, partition_index=index)
        name = f"partitions from {topic}-{index} on"
        _describe(run, name, "parts-a", "parts-b", cursor=cursor)
    _describe(run, "partitions of all topics, two of them", limit=2)


def _describe(
    run: Run, name: str, *topics: str, limit: int = 2000, cursor: RequestCursor | None = None
) -> None:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=topic) for topic in topics],
        response_partition_limit=limit,
        cursor=cursor,
    )
    run.ask(name, request, 0)


def describe_cluster(run: Run) -> None:
    for version in range(3):
        run.ask(f"cluster v{version}", DescribeClusterRequest(), version)
    run.ask(
        "cluster with authorised operations",
        DescribeClusterRequest(include_cluster_authorized_operations=True),
        0,
    )
    run.ask("cluster with fenced brokers", DescribeClusterRequest(include_fenced_brokers=True), 2)
    for kind in (0, 2, 3):
        run.ask(f"cluster of endpoint type {kind}", DescribeClusterRequest(endpoint_type=kind), 1)


def _ask(
    run: Run, name: str, version: int, *topics: MetadataRequestTopic, create: bool = False
) -> None:
    # Before version 4 the broker's config decides alone, so nothing else can be said.
    request = MetadataRequest(
        topics=list(topics), allow_auto_topic_creation=create if version >= 4 else True
    )
    run.ask(name, request, version)


def _named(name: str) -> MetadataRequestTopic:
    return MetadataRequestTopic(name=name)


def _with_id(topic_id: Uuid, version: int) -> MetadataRequestTopic:
    # Versions 10 and 11 have the field and do not serve it.
    return MetadataRequestTopic(topic_id=topic_id, name=None if version >= 10 else "")
