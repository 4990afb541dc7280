"""Produce (key 0): append record batches, and answer when they are as safe as was asked.

Appending happens in `begin`, in the order of the requests. The answer waits only for acks=all, and
only where the high watermark does not follow at once. With acks=0 there is no answer; the one way
to tell such a client of an error is to close its connection, which is what Kafka does.
"""

from kbroker.broker.commit_wait import CommitWait
from kbroker.broker.partition import Partition
from kbroker.broker.refusals import REFUSED, Refusal, why
from kbroker.broker.requests import CloseConnection, Later, RequestContext
from kbroker.broker.transactional_writes import TransactionalWrites, WrittenTo
from kbroker.records import HEADER_BYTES, Compression
from kbroker.records.header import COMPRESSION_MASK, TRANSACTIONAL_BIT
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

ALL_IN_SYNC = -1
# From this version on requests name topics by id (KIP-516), and from that one on they may carry
# zstd (KIP-110): older clients would be sent what they cannot unpack.
_TOPIC_ID_VERSION = 13
_ZSTD_VERSION = 7
# Where a batch of format 2 has the lower half of its attributes.
_ATTRIBUTES_POSITION = 22
# A batch that is refused for what it is, or by the coordinator of its transaction, tells nothing
# about the partition; Kafka's answer neither.
_UNSOUND = (
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.TRANSACTION_ABORTABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS,
)
# The Java AdminClient's own id, which may write to internal topics (Kafka's AdminUtils).
_ADMIN_CLIENT_ID = "__admin_client"


def begin(
    context: RequestContext, request: ProduceRequest
) -> ProduceResponse | Later[ProduceResponse] | None:
    """Append everything; wait for the commit if the client asked for it."""
    response = ProduceResponse()
    if not -1 <= request.acks <= 1:
        _refuse_all(request, response, ErrorCode.INVALID_REQUIRED_ACKS)
        return response
    now_ms = context.broker.clock.timestamp_ms()
    appended: list[tuple[Partition, int, PartitionProduceResponse]] = []
    writes = None
    if request.transactional_id is not None:
        writes = TransactionalWrites(
            context.broker.transactions, api_version=context.api_version, now_ms=now_ms
        )
    for topic in request.topic_data:
        answer = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
        response.responses.append(answer)
        refusal = _topic_refusal(context, topic)
        for data in topic.partition_data:
            if refusal:
                result = PartitionProduceResponse(
                    index=data.index, error_code=refusal, base_offset=-1
                )
            else:
                result = _append(context, request, topic, data, now_ms, appended, writes)
            answer.partition_responses.append(result)
    is_asked = writes is None or writes.ask()
    if request.acks == 0:
        _hang_up_on_error(response)
        return None
    if writes is not None and not is_asked:
        return _Verifying(context, request, response, appended, writes)
    if request.acks == ALL_IN_SYNC:
        return _when_committed(context, request, response, appended)
    return response


def _when_committed(
    context: RequestContext,
    request: ProduceRequest,
    response: ProduceResponse,
    appended: list[tuple[Partition, int, PartitionProduceResponse]],
) -> ProduceResponse | Later[ProduceResponse]:
    waiting = [
        (partition, last_offset)
        for partition, last_offset, _ in appended
        if partition.high_watermark <= last_offset
    ]
    if not waiting:
        return response
    deadline = context.received_at + max(0, request.timeout_ms) / 1000
    return _Committing(response, appended, CommitWait(waiting), deadline)


def _topic_refusal(context: RequestContext, topic: TopicProduceData) -> ErrorCode:
    """Why nothing can be written to a topic, or NONE."""
    name: str | None = topic.name
    if context.api_version >= _TOPIC_ID_VERSION:
        name = context.broker.image.topic_names.get(topic.topic_id)
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
    if name in context.broker.internal_topics and context.client_id != _ADMIN_CLIENT_ID:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return ErrorCode.NONE


def _append(
    context: RequestContext,
    request: ProduceRequest,
    topic: TopicProduceData,
    data: PartitionProduceData,
    now_ms: int,
    appended: list[tuple[Partition, int, PartitionProduceResponse]],
    writes: TransactionalWrites | None,
) -> PartitionProduceResponse:
    """Append one partition's records, and say where they went or why not.

    Records of a transaction may be appended later: their result is filled in then.
    """
    partitions = context.broker.partitions
    if context.api_version >= _TOPIC_ID_VERSION:
        partition, error = partitions.find_by_id(topic.topic_id, data.index)
    else:
        partition, error = partitions.find(topic.name, data.index)
    if partition is None:
        return _not_here(context, topic, data.index, error)
    records = data.records
    if not isinstance(records, memoryview):
        return PartitionProduceResponse(
            index=data.index,
            error_code=ErrorCode.INVALID_RECORD,
            base_offset=-1,
            error_message="no records were sent",
        )
    refusal = _refusal_of_kind(context, request, records)
    if refusal:
        return PartitionProduceResponse(index=data.index, error_code=refusal, base_offset=-1)
    if writes is not None and _is_transactional(records):
        return _append_in_transaction(request, data.index, partition, records, appended, writes)
    try:
        where = partition.append(records, now_ms=now_ms)
    except REFUSED as refused:
        return _refusal(data.index, why(refused), partition)
    result = PartitionProduceResponse(
        index=data.index,
        base_offset=where.first_offset,
        log_append_time_ms=where.log_append_time_ms,
        log_start_offset=where.log_start_offset,
    )
    appended.append((partition, where.last_offset, result))
    return result


def _is_transactional(records: memoryview) -> bool:
    """Whether the first batch is part of a transaction; what has no header is not."""
    return len(records) >= HEADER_BYTES and bool(records[_ATTRIBUTES_POSITION] & TRANSACTIONAL_BIT)


def _append_in_transaction(
    request: ProduceRequest,
    index: int,
    partition: Partition,
    records: memoryview,
    appended: list[tuple[Partition, int, PartitionProduceResponse]],
    writes: TransactionalWrites,
) -> PartitionProduceResponse:
    result = PartitionProduceResponse(index=index, base_offset=-1)

    def on_written(written: WrittenTo | Refusal) -> None:
        if isinstance(written, Refusal):
            refused = _refusal(index, written, partition)
            result.error_code = refused.error_code
            result.error_message = refused.error_message
            result.log_start_offset = refused.log_start_offset
            result.record_errors = refused.record_errors
            return
        result.base_offset = written.first_offset
        result.log_append_time_ms = written.log_append_time_ms
        result.log_start_offset = written.log_start_offset
        appended.append((partition, written.last_offset, result))

    assert request.transactional_id is not None
    writes.add(request.transactional_id, partition, records, on_written)
    return result


def _refusal_of_kind(
    context: RequestContext, request: ProduceRequest, records: memoryview
) -> ErrorCode:
    """Why batches of this kind cannot come in this request, or NONE.

    A batch without its header is no kind at all; the log complains about it.
    """
    if len(records) < HEADER_BYTES:
        return ErrorCode.NONE
    attributes = records[_ATTRIBUTES_POSITION]
    if attributes & TRANSACTIONAL_BIT and request.transactional_id is None:
        # Nobody could end that transaction, and readers of committed data would wait for it
        # forever.
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if attributes & COMPRESSION_MASK == Compression.ZSTD and context.api_version < _ZSTD_VERSION:
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    return ErrorCode.NONE


def _refusal(index: int, refusal: Refusal, partition: Partition) -> PartitionProduceResponse:
    is_sound = refusal.error not in _UNSOUND
    return PartitionProduceResponse(
        index=index,
        error_code=refusal.error,
        base_offset=-1,
        log_start_offset=partition.log.log_start_offset if is_sound else -1,
        error_message=refusal.message,
        record_errors=[
            BatchIndexAndErrorMessage(
                batch_index=one.batch_index, batch_index_error_message=one.message
            )
            for one in refusal.record_errors
        ],
    )


def _not_here(
    context: RequestContext, topic: TopicProduceData, index: int, error: ErrorCode
) -> PartitionProduceResponse:
    result = PartitionProduceResponse(index=index, error_code=error, base_offset=-1)
    if error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        # KIP-951: tell who leads, so that the producer need not ask.
        leader = context.broker.partitions.leader_of(topic.name, topic.topic_id, index)
        if leader is not None:
            result.current_leader = LeaderIdAndEpoch(leader_id=leader[0], leader_epoch=leader[1])
    return result


def _refuse_all(request: ProduceRequest, response: ProduceResponse, error: ErrorCode) -> None:
    for topic in request.topic_data:
        answer = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
        answer.partition_responses = [
            PartitionProduceResponse(index=data.index, error_code=error, base_offset=-1)
            for data in topic.partition_data
        ]
        response.responses.append(answer)


def _hang_up_on_error(response: ProduceResponse) -> None:
    for topic in response.responses:
        for result in topic.partition_responses:
            if result.error_code:
                name = ErrorCode(result.error_code).name
                raise CloseConnection(f"produce with acks=0 failed: {name}")


class _Verifying(Later[ProduceResponse]):
    """Batches of a transaction that wait for its coordinator's word."""

    __slots__ = ("_appended", "_context", "_request", "_response", "_writes")

    def __init__(
        self,
        context: RequestContext,
        request: ProduceRequest,
        response: ProduceResponse,
        appended: list[tuple[Partition, int, PartitionProduceResponse]],
        writes: TransactionalWrites,
    ) -> None:
        self._context = context
        self._request = request
        self._response = response
        self._appended = appended
        self._writes = writes

    async def finish(self) -> ProduceResponse:
        """Answer when all are appended and, if asked for, committed."""
        await self._writes.finish()
        if self._request.acks != ALL_IN_SYNC:
            return self._response
        answer = _when_committed(self._context, self._request, self._response, self._appended)
        return await answer.finish() if isinstance(answer, Later) else answer


class _Committing(Later[ProduceResponse]):
    """Appended, and waiting for the high watermarks."""

    __slots__ = ("_appended", "_deadline", "_response", "_wait")

    def __init__(
        self,
        response: ProduceResponse,
        appended: list[tuple[Partition, int, PartitionProduceResponse]],
        wait: CommitWait,
        deadline: float,
    ) -> None:
        self._response = response
        self._appended = appended
        self._wait = wait
        self._deadline = deadline

    async def finish(self) -> ProduceResponse:
        """Answer; what was not committed in time is REQUEST_TIMED_OUT, written all the same."""
        late = await self._wait.wait_until(self._deadline)
        for partition, last_offset, result in self._appended:
            if partition in late and partition.high_watermark <= last_offset:
                failed = partition.offline
                result.error_code = (
                    ErrorCode.KAFKA_STORAGE_ERROR if failed else ErrorCode.REQUEST_TIMED_OUT
                )
        return self._response
