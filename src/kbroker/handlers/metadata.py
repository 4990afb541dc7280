"""Metadata (key 3): which brokers and topics there are, and who leads what.

Answered at once from the image, with the same bytes as long as it does not change. Only where a
topic is missing and may be created by asking for it does the answer wait, until it is created. Even
so the topic is still unknown to this answer, as it is to Kafka's: whoever asks whether a topic is
gone must not hear that it is there, because of the question. Clients ask again after a moment, and
find it.
"""

from kbroker.broker.kept_answers import KeptResponse
from kbroker.broker.requests import Later, RequestContext
from kbroker.broker.resources import CLUSTER_OPERATIONS, TOPIC_OPERATIONS
from kbroker.cluster import PartitionImage, TopicImage
from kbroker.model import ZERO_UUID
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

# Before this version an empty list of topics meant all of them.
_NULL_MEANS_ALL_VERSION = 1
# Before this version requests could carry a topic id that no broker understood.
_TOPIC_ID_VERSION = 12


def begin(
    context: RequestContext, request: MetadataRequest
) -> MetadataResponse | Later[MetadataResponse]:
    """Describe the cluster; create what is missing, if that is allowed."""
    topics = request.topics
    if topics is None or (context.api_version < _NULL_MEANS_ALL_VERSION and not topics):
        return _kept(context, request, None)
    if not all(_is_named(context, topic) for topic in topics):
        return _refuse(topics, ErrorCode.INVALID_REQUEST)
    if request.allow_auto_topic_creation and context.broker.config.get_bool(
        "auto.create.topics.enable"
    ):
        known = context.broker.image.topics
        missing = [
            topic.name
            for topic in topics
            if topic.name is not None and topic.topic_id == ZERO_UUID and topic.name not in known
        ]
        if missing:
            return _Creating(context, request, topics, missing)
    return _kept(context, request, topics)


def _kept(
    context: RequestContext, request: MetadataRequest, topics: list[MetadataRequestTopic] | None
) -> MetadataResponse:
    """The answer, from memory if the same was asked since the image changed.

    All clients see the same topics; once that depends on who asks, the principal belongs to the
    question.
    """
    version = context.api_version
    question = (
        version,
        context.connection.listener,
        None if topics is None else tuple([(topic.name, topic.topic_id) for topic in topics]),
        request.include_cluster_authorized_operations,
        request.include_topic_authorized_operations,
    )
    return context.broker.kept_answers.get(
        question,
        lambda: _describe(context, request, topics, {}),
        version=version,
        revision=context.broker.image.revision,
    )


def _is_named(context: RequestContext, topic: MetadataRequestTopic) -> bool:
    """Whether a topic is asked for by what this version of the request may name it by."""
    if context.api_version < _TOPIC_ID_VERSION:
        return topic.name is not None and topic.topic_id == ZERO_UUID
    return topic.name is not None or topic.topic_id != ZERO_UUID


def _refuse(topics: list[MetadataRequestTopic], error: ErrorCode) -> MetadataResponse:
    """The answer that says nothing but no."""
    return MetadataResponse(
        topics=[
            MetadataResponseTopic(error_code=error, name=topic.name or "", topic_id=topic.topic_id)
            for topic in topics
        ],
        error_code=error,
    )


class _Creating(Later[MetadataResponse]):
    """Topics are being created because somebody asked about them."""

    __slots__ = ("_context", "_missing", "_request", "_topics")

    def __init__(
        self,
        context: RequestContext,
        request: MetadataRequest,
        topics: list[MetadataRequestTopic],
        missing: list[str],
    ) -> None:
        self._context = context
        self._request = request
        self._topics = topics
        self._missing = missing

    async def finish(self) -> MetadataResponse:
        """Describe the others when they are there."""
        errors = await self._context.broker.administration.auto_create_topics(self._missing)
        for name in self._missing:
            errors.setdefault(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return _describe(self._context, self._request, self._topics, errors)


def _describe(
    context: RequestContext,
    request: MetadataRequest,
    topics: list[MetadataRequestTopic] | None,
    errors: dict[str, ErrorCode],
) -> KeptResponse:
    """The answer; ``errors`` are those of topics that are being created, or could not be."""
    broker = context.broker
    image = broker.image
    listener = context.connection.listener
    response = KeptResponse(
        cluster_id=image.cluster_id,
        controller_id=image.controller_id,
        brokers=[
            MetadataResponseBroker(node_id=node_id, host=host, port=port, rack=rack)
            for node_id, host, port, rack in broker.endpoints(listener)
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    if topics is None:
        described = [_known(context, topic) for topic in image.topics.values()]
    else:
        described = [_asked(context, topic, errors) for topic in _without_repetition(topics)]
    if request.include_topic_authorized_operations:
        for answer in described:
            answer.topic_authorized_operations = TOPIC_OPERATIONS
    response.topics = described
    return response


def _without_repetition(topics: list[MetadataRequestTopic]) -> list[MetadataRequestTopic]:
    return list({(topic.name, topic.topic_id): topic for topic in topics}.values())


def _asked(
    context: RequestContext, asked: MetadataRequestTopic, errors: dict[str, ErrorCode]
) -> MetadataResponseTopic:
    """The answer for one topic that was asked for by name or by id."""
    broker = context.broker
    name = asked.name
    if asked.topic_id != ZERO_UUID:
        name = broker.image.topic_names.get(asked.topic_id)
        if name is None:
            return MetadataResponseTopic(
                name=None, topic_id=asked.topic_id, error_code=ErrorCode.UNKNOWN_TOPIC_ID
            )
    assert name is not None
    error = errors.get(name)
    topic = broker.image.topics.get(name)
    if topic is not None and error is None:
        return _known(context, topic)
    if error is None:
        error = broker.missing_topic_error(name)
    return MetadataResponseTopic(
        name=name, error_code=error, is_internal=name in broker.internal_topics
    )


def _known(context: RequestContext, topic: TopicImage) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in context.broker.internal_topics,
        partitions=[_partition(context, partition) for partition in topic.partitions],
    )


def _partition(context: RequestContext, partition: PartitionImage) -> MetadataResponsePartition:
    alive = context.broker.image.brokers
    leader_id = partition.leader if partition.leader in alive else -1
    return MetadataResponsePartition(
        error_code=ErrorCode.NONE if leader_id >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=partition.partition,
        leader_id=leader_id,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        offline_replicas=[node for node in partition.replicas if node not in alive],
    )
