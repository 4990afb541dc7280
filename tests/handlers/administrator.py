"""The administration APIs in few words: each method is one request, its answer cut to the core.

Client libraries hide half of an answer (types, ids, exact messages), and that half is what tests
of handlers look at.
"""

from collections.abc import Sequence

from kbroker.client.connection import Connection
from kbroker.model import Uuid
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages import (
    alter_configs,
    create_partitions,
    create_topics,
    delete_topics,
    describe_configs,
    incremental_alter_configs,
    metadata,
)

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3

# What a refused item is answered with.
Refusal = tuple[ErrorCode, str | None]


class Administrator(Connection):
    """A connection that speaks of topics and configs."""

    # Topics

    def create(
        self,
        *topics: create_topics.CreatableTopic,
        version: int = 7,
        validate_only: bool = False,
        timeout_ms: int = 30_000,
    ) -> dict[str, create_topics.CreatableTopicResult]:
        """The results by name."""
        request = create_topics.CreateTopicsRequest(
            topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
        )
        answer = self.ask(request, create_topics.CreateTopicsResponse, version=version)
        return {topic.name: topic for topic in answer.topics}

    def must_create(self, name: str, partitions: int = 1, **configs: str) -> Uuid:
        """A topic that exists now; ``_`` in the name of a config stands for ``.``."""
        named = {key.replace("_", "."): value for key, value in configs.items()}
        result = self.create(new_topic(name, partitions, configs=named))[name]
        assert result.error_code == 0, result
        return result.topic_id

    def partitions_of(self, name: str) -> int | ErrorCode:
        """How many partitions a topic has, or why it has none; creates nothing."""
        request = metadata.MetadataRequest(
            topics=[metadata.MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
        )
        topic = self.ask(request, metadata.MetadataResponse, version=12).topics[0]
        return ErrorCode(topic.error_code) if topic.error_code else len(topic.partitions)

    def delete(
        self,
        *topics: str | Uuid | delete_topics.DeleteTopicState,
        timeout_ms: int = 30_000,
    ) -> dict[str | Uuid | None, Refusal]:
        """The results by name, or by id where there is no name; names are texts, ids are not."""
        states = [
            topic
            if isinstance(topic, delete_topics.DeleteTopicState)
            else delete_topics.DeleteTopicState(name=topic)
            if isinstance(topic, str)
            else delete_topics.DeleteTopicState(name=None, topic_id=topic)
            for topic in topics
        ]
        request = delete_topics.DeleteTopicsRequest(topics=states, timeout_ms=timeout_ms)
        answer = self.ask(request, delete_topics.DeleteTopicsResponse, version=6)
        return {
            one.topic_id if one.name is None else one.name: (
                ErrorCode(one.error_code),
                one.error_message,
            )
            for one in answer.responses
        }

    def add_partitions(
        self,
        *topics: create_partitions.CreatePartitionsTopic,
        timeout_ms: int = 30_000,
        validate_only: bool = False,
    ) -> dict[str, Refusal]:
        """The results by name."""
        request = create_partitions.CreatePartitionsRequest(
            topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
        )
        answer = self.ask(request, create_partitions.CreatePartitionsResponse, version=3)
        return {one.name: (ErrorCode(one.error_code), one.error_message) for one in answer.results}

    # Configs

    def describe(
        self,
        kind: int,
        name: str,
        keys: Sequence[str] | None = None,
        *,
        synonyms: bool = True,
        documentation: bool = True,
    ) -> describe_configs.DescribeConfigsResult:
        """All about one resource."""
        resource = describe_configs.DescribeConfigsResource(
            resource_type=kind,
            resource_name=name,
            configuration_keys=None if keys is None else list(keys),
        )
        request = describe_configs.DescribeConfigsRequest(
            resources=[resource], include_synonyms=synonyms, include_documentation=documentation
        )
        answer = self.ask(request, describe_configs.DescribeConfigsResponse, version=4)
        return answer.results[0]

    def values(self, kind: int, name: str, *keys: str) -> dict[str, str | None]:
        """The values of configs by name."""
        return {one.name: one.value for one in self.describe(kind, name, keys).configs}

    def alter(
        self,
        kind: int,
        name: str,
        *changes: tuple[str, int, str | None],
        validate_only: bool = False,
    ) -> Refusal:
        """The result of an incremental change."""
        request = incremental_alter_configs.IncrementalAlterConfigsRequest(
            resources=[altered(kind, name, *changes)], validate_only=validate_only
        )
        response = incremental_alter_configs.IncrementalAlterConfigsResponse
        return _refusal(self.ask(request, response, version=1).responses[0])

    def replace(
        self, kind: int, name: str, *entries: tuple[str, str | None], validate_only: bool = False
    ) -> Refusal:
        """The result of a full replacement."""
        resource = alter_configs.AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[
                alter_configs.AlterableConfig(name=key, value=value) for key, value in entries
            ],
        )
        request = alter_configs.AlterConfigsRequest(
            resources=[resource], validate_only=validate_only
        )
        answer = self.ask(request, alter_configs.AlterConfigsResponse, version=2)
        return _refusal(answer.responses[0])


def new_topic(
    name: str,
    partitions: int = -1,
    replication_factor: int = -1,
    *,
    configs: dict[str, str | None] | dict[str, str] | None = None,
    assignments: dict[int, list[int]] | None = None,
) -> create_topics.CreatableTopic:
    """A topic to create."""
    return create_topics.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        configs=[
            create_topics.CreatableTopicConfig(name=key, value=value)
            for key, value in (configs or {}).items()
        ],
        assignments=[
            create_topics.CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in (assignments or {}).items()
        ],
    )


def more(
    name: str, count: int, assignments: list[list[int]] | None = None
) -> create_partitions.CreatePartitionsTopic:
    """A topic to be given partitions."""
    return create_partitions.CreatePartitionsTopic(
        name=name,
        count=count,
        assignments=None
        if assignments is None
        else [
            create_partitions.CreatePartitionsAssignment(broker_ids=brokers)
            for brokers in assignments
        ],
    )


def altered(
    kind: int, name: str, *changes: tuple[str, int, str | None]
) -> incremental_alter_configs.AlterConfigsResource:
    """A resource to alter."""
    return incremental_alter_configs.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            incremental_alter_configs.AlterableConfig(
                name=key, config_operation=operation, value=value
            )
            for key, operation, value in changes
        ],
    )


def _refusal(
    answer: alter_configs.AlterConfigsResourceResponse
    | incremental_alter_configs.AlterConfigsResourceResponse,
) -> Refusal:
    return ErrorCode(answer.error_code), answer.error_message
