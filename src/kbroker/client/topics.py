"""Create, delete, grow and configure topics, and ask where their logs begin and end.

One function per verb. Changes go to the controller, questions about configs to any broker and
those about offsets to the leaders. A refusal is a BrokerError about the topic.
"""

import time
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError, raise_refusal
from kbroker.wire import ErrorCode
from kbroker.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kbroker.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kbroker.wire.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kbroker.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from kbroker.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kbroker.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

# Timestamps that ListOffsets gives a meaning of its own.
LATEST = -1
EARLIEST = -2

# Consumers have no replica id.
NO_REPLICA = -1
READ_UNCOMMITTED = 0
READ_COMMITTED = 1

# A topic that metadata just named reaches its leader within moments.
NEW_TOPIC_PATIENCE_S = 2.0

# The numbers of ConfigResource.Type, AlterConfigOp.OpType and DescribeConfigsResponse.ConfigSource.
_TOPIC_RESOURCE = 2
_DEFAULT_CONFIG_SOURCE = 5
# The first version that takes -1 for "as the broker is configured" (KIP-464).
_CREATE_WITH_DEFAULTS = 4
# The first version that names topics in structures, by name or by id (KIP-516).
_DELETE_BY_STATE = 6
_LEADERS_WAIT_S = 5.0
_LEADERS_PAUSE_S = 0.02


class _Operation(IntEnum):
    SET = 0
    DELETE = 1


class TopicSetting(NamedTuple):
    """One config of a topic that is not Kafka's default; None if the value is a secret."""

    name: str
    value: str | None


def create_topic(
    cluster: Cluster,
    name: str,
    *,
    partitions: int | None = None,
    replication_factor: int | None = None,
    configs: Mapping[str, str] | None = None,
) -> None:
    """Create a topic and wait, some seconds at most, until its partitions have leaders.

    None leaves a number to the brokers' configuration.
    """

    def attempt() -> CreateTopicsResponse:
        controller = cluster.controller()
        version = controller.version_of(CreateTopicsRequest)
        default = -1 if version >= _CREATE_WITH_DEFAULTS else 1
        topic = CreatableTopic(
            name=name,
            num_partitions=default if partitions is None else partitions,
            replication_factor=default if replication_factor is None else replication_factor,
            configs=[CreatableTopicConfig(name=n, value=v) for n, v in (configs or {}).items()],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=_timeout_ms(cluster))
        response = controller.ask(request, CreateTopicsResponse, version=version)
        for result in response.topics:
            raise_refusal(result.error_code, result.error_message, subject=name)
        return response

    cluster.retry(attempt)
    _wait_for_leaders(cluster, name)


def delete_topic(cluster: Cluster, name: str) -> None:
    """Delete a topic and all its records."""

    def attempt() -> None:
        controller = cluster.controller()
        version = controller.version_of(DeleteTopicsRequest)
        request = DeleteTopicsRequest(timeout_ms=_timeout_ms(cluster))
        if version >= _DELETE_BY_STATE:
            request.topics = [DeleteTopicState(name=name)]
        else:
            request.topic_names = [name]
        response = controller.ask(request, DeleteTopicsResponse, version=version)
        for result in response.responses:
            raise_refusal(result.error_code, result.error_message, subject=name)

    cluster.retry(attempt)
    cluster.forget()


def grow_topic(cluster: Cluster, name: str, partitions: int) -> None:
    """Let a topic have ``partitions`` partitions, more than it has now."""

    def attempt() -> None:
        topic = CreatePartitionsTopic(name=name, count=partitions, assignments=None)
        request = CreatePartitionsRequest(topics=[topic], timeout_ms=_timeout_ms(cluster))
        response = cluster.controller().ask(request, CreatePartitionsResponse)
        for result in response.results:
            raise_refusal(result.error_code, result.error_message, subject=name)

    cluster.retry(attempt)
    cluster.forget()


def configure_topic(
    cluster: Cluster, name: str, *, change: Mapping[str, str], remove: Iterable[str] = ()
) -> None:
    """Set some configs of a topic and give others back their defaults, all or none."""
    configs = [
        AlterableConfig(name=config, config_operation=_Operation.SET, value=value)
        for config, value in change.items()
    ] + [
        AlterableConfig(name=config, config_operation=_Operation.DELETE, value=None)
        for config in remove
    ]

    def attempt() -> None:
        resource = AlterConfigsResource(
            resource_type=_TOPIC_RESOURCE, resource_name=name, configs=configs
        )
        request = IncrementalAlterConfigsRequest(resources=[resource])
        response = cluster.controller().ask(request, IncrementalAlterConfigsResponse)
        for result in response.responses:
            raise_refusal(result.error_code, result.error_message, subject=name)

    cluster.retry(attempt)


def topic_settings(cluster: Cluster, name: str) -> list[TopicSetting]:
    """The configs of a topic that are not Kafka's defaults, by whoever set them, sorted."""

    def attempt() -> list[TopicSetting]:
        resource = DescribeConfigsResource(
            resource_type=_TOPIC_RESOURCE, resource_name=name, configuration_keys=None
        )
        request = DescribeConfigsRequest(resources=[resource])
        response = cluster.any_connection().ask(request, DescribeConfigsResponse)
        for result in response.results:
            raise_refusal(result.error_code, result.error_message, subject=name)
        return sorted(
            TopicSetting(config.name, None if config.is_sensitive else config.value or "")
            for result in response.results
            for config in result.configs
            if config.config_source != _DEFAULT_CONFIG_SOURCE
        )

    return cluster.retry(attempt)


def list_offsets(
    cluster: Cluster,
    topic: str,
    timestamps: Mapping[int, int],
    *,
    isolation_level: int = READ_UNCOMMITTED,
) -> dict[int, int]:
    """The offset of the first record at or after a timestamp, by partition; -1 if there is none.

    EARLIEST and LATEST ask for both ends of the log. The latest offset is the high watermark, or
    the last stable offset for those who read committed data.
    """

    def attempt() -> dict[int, int]:
        found = {}
        for leader, partitions in cluster.by_leader(topic, timestamps).items():
            request = ListOffsetsRequest(
                replica_id=NO_REPLICA,
                isolation_level=isolation_level,
                topics=[
                    ListOffsetsTopic(
                        name=topic,
                        partitions=[
                            ListOffsetsPartition(partition_index=p, timestamp=timestamps[p])
                            for p in partitions
                        ],
                    )
                ],
                timeout_ms=_timeout_ms(cluster),
            )
            response = leader.ask(request, ListOffsetsResponse)
            for answer in (answer for each in response.topics for answer in each.partitions):
                found[answer.partition_index] = _offset_of(topic, answer)
        return found

    return cluster.retry(attempt, unknown_topic_s=NEW_TOPIC_PATIENCE_S)


def _offset_of(topic: str, answer: ListOffsetsPartitionResponse) -> int:
    raise_refusal(answer.error_code, subject=f"{topic}-{answer.partition_index}")
    return answer.offset


def _wait_for_leaders(cluster: Cluster, name: str) -> None:
    """Until the brokers know the leaders of a new topic; it is there in any case."""
    deadline = time.monotonic() + _LEADERS_WAIT_S
    while time.monotonic() < deadline:
        try:
            (topic,) = cluster.metadata([name]).topics
        except ClientError:
            return
        if topic.error_code == ErrorCode.NONE and all(
            partition.leader_id >= 0 for partition in topic.partitions
        ):
            return
        time.sleep(_LEADERS_PAUSE_S)


def _timeout_ms(cluster: Cluster) -> int:
    """How long a broker may work on a request, a bit less than we wait for its answer."""
    return max(1, int(cluster.timeout_s * 900))
