"""CreateTopics (key 19): make topics, each with an answer of its own."""

from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.requests import RequestContext
from kbroker.cluster import ManualAssignment, NewTopic, Refused, TopicCreated
from kbroker.config.describe import describe_topic
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)


async def handle(context: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    """Create what can be created; the topics exist when the answer leaves."""
    try:
        results = await context.broker.administration.create_topics(
            [_new_topic(topic) for topic in request.topics],
            deadline=context.received_at + request.timeout_ms / 1000,
            validate_only=request.validate_only,
        )
    except NotCarriedOut as error:
        code = ErrorCode[error.kafka_error]
        names = dict.fromkeys(topic.name for topic in request.topics)
        return CreateTopicsResponse(
            topics=[
                CreatableTopicResult(name=name, error_code=code, error_message=str(error))
                for name in names
            ]
        )
    # Whoever creates many topics gives them the same configs, so those are described once.
    described: dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]] = {}
    response = CreateTopicsResponse()
    for name, result in results.items():
        if isinstance(result, Refused):
            response.topics.append(
                CreatableTopicResult(
                    name=name, error_code=ErrorCode[result.error], error_message=result.message
                )
            )
            continue
        key = frozenset(result.configs.items())
        if key not in described:
            described[key] = _configs(context, result)
        response.topics.append(_created(name, result, described[key]))
    return response


def _new_topic(topic: CreatableTopic) -> NewTopic:
    return NewTopic(
        topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=tuple(
            ManualAssignment(assignment.partition_index, tuple(assignment.broker_ids))
            for assignment in topic.assignments
        ),
        configs={config.name: config.value for config in topic.configs},
    )


def _created(
    name: str, topic: TopicCreated, configs: list[CreatableTopicConfigs]
) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name,
        topic_id=topic.topic_id,
        error_message=None,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        configs=configs,
    )


def _configs(context: RequestContext, topic: TopicCreated) -> list[CreatableTopicConfigs]:
    """KIP-525: what the topic's configs are, defaults and all."""
    return [
        CreatableTopicConfigs(
            name=config.name,
            value=config.value,
            read_only=config.read_only,
            config_source=config.source,
            is_sensitive=config.sensitive,
        )
        for config in describe_topic(context.broker.config, topic.configs)
    ]
