"""DeleteTopics (key 20): delete topics by name, or by id since version 6 (KIP-516)."""

from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.requests import RequestContext
from kbroker.cluster import TopicDeletion, TopicToDelete
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

# Clients before this version do not know TOPIC_DELETION_DISABLED (KIP-322).
_DELETION_DISABLED_VERSION = 3


async def handle(context: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    """Delete what can be deleted."""
    topics = [TopicToDelete(name) for name in request.topic_names]
    topics += [TopicToDelete(topic.name, topic.topic_id) for topic in request.topics]
    try:
        results = await context.broker.administration.delete_topics(
            topics, deadline=context.received_at + request.timeout_ms / 1000
        )
    except NotCarriedOut as error:
        code = ErrorCode[error.kafka_error]
        return DeleteTopicsResponse(
            responses=[
                DeletableTopicResult(
                    name=topic.name,
                    topic_id=topic.topic_id,
                    error_code=code,
                    error_message=str(error),
                )
                for topic in dict.fromkeys(topics)
            ]
        )
    return DeleteTopicsResponse(responses=[_answer(context, result) for result in results])


def _answer(context: RequestContext, result: TopicDeletion) -> DeletableTopicResult:
    answer = DeletableTopicResult(name=result.name, topic_id=result.topic_id)
    if result.refused is not None:
        error = ErrorCode[result.refused.error]
        if (
            error is ErrorCode.TOPIC_DELETION_DISABLED
            and context.api_version < _DELETION_DISABLED_VERSION
        ):
            error = ErrorCode.INVALID_REQUEST
        answer.error_code = error
        answer.error_message = result.refused.message
    return answer
