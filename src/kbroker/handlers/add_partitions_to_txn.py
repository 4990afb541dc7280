"""AddPartitionsToTxn (key 24): partitions that a transaction will write to, or has in it already.

Up to version 3 a client sends it for its own transaction. From version 4 on brokers do, for many
transactions at once, and may only want to know whether the partitions are in them (KIP-890).
"""

from kbroker.broker.gathering import gather
from kbroker.broker.requests import Later, RequestContext
from kbroker.model import TopicPartition
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from kbroker.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

_BATCHED_VERSION = 4
# Older clients do not know PRODUCER_FENCED.
_FENCED_VERSION = 2
# From this version on, the client whose partitions are added has an epoch for each transaction.
_EPOCH_PER_TRANSACTION_VERSION = 5


def begin(
    context: RequestContext, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse | Later[AddPartitionsToTxnResponse]:
    """Answered when the partitions are part of their transactions, durably."""
    if context.api_version >= _BATCHED_VERSION:
        return gather(
            [_one(context, transaction) for transaction in request.transactions],
            lambda results: AddPartitionsToTxnResponse(results_by_transaction=results),
        )
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )
    return gather(
        [_one(context, transaction)],
        lambda results: AddPartitionsToTxnResponse(
            results_by_topic_v3_and_below=results[0].topic_results
        ),
    )


def _one(
    context: RequestContext, transaction: AddPartitionsToTxnTransaction
) -> AddPartitionsToTxnResult | Later[AddPartitionsToTxnResult]:
    """Add or verify the partitions of one transaction."""
    transactions = context.broker.transactions
    places = [
        TopicPartition(topic.name, index)
        for topic in transaction.topics
        for index in topic.partitions
    ]
    unknown = {place for place in places if not _exists(context, place)}
    if unknown:
        # One that does not exist keeps all from being added.
        errors = {
            place: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if place in unknown
            else ErrorCode.OPERATION_NOT_ATTEMPTED
            for place in places
        }
        return _result(transaction, errors)
    writer = transactions.writer(
        transaction.transactional_id, transaction.producer_id, transaction.producer_epoch
    )
    if transaction.verify_only:
        verdicts = [transactions.verify_partition(writer, place) for place in places]
    else:
        is_v2 = context.api_version >= _EPOCH_PER_TRANSACTION_VERSION
        verdicts = [transactions.add_partitions(writer, places, client_version=2 if is_v2 else 0)]

    def combine(answers: list[AddOffsetsToTxnResponse]) -> AddPartitionsToTxnResult:
        codes = [_in_words_of_the_client(context, answer) for answer in answers]
        if not transaction.verify_only:
            codes *= len(places)
        return _result(transaction, dict(zip(places, codes, strict=True)))

    return gather(verdicts, combine)


def _exists(context: RequestContext, place: TopicPartition) -> bool:
    topic = context.broker.image.topics.get(place.topic)
    return topic is not None and 0 <= place.partition < len(topic.partitions)


def _in_words_of_the_client(context: RequestContext, answer: AddOffsetsToTxnResponse) -> ErrorCode:
    error = ErrorCode(answer.error_code)
    if error is ErrorCode.PRODUCER_FENCED and context.api_version < _FENCED_VERSION:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error


def _result(
    transaction: AddPartitionsToTxnTransaction, errors: dict[TopicPartition, ErrorCode]
) -> AddPartitionsToTxnResult:
    def of_topic(topic: AddPartitionsToTxnTopic) -> AddPartitionsToTxnTopicResult:
        return AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index,
                    partition_error_code=errors[TopicPartition(topic.name, index)],
                )
                for index in topic.partitions
            ],
        )

    return AddPartitionsToTxnResult(
        transactional_id=transaction.transactional_id,
        topic_results=[of_topic(topic) for topic in transaction.topics],
    )
