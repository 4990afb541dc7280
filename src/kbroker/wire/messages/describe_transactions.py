"""DescribeTransactions (key 65), version 0, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, int_array, string, string_array


class DescribeTransactionsRequest(Request, api_key=65, versions="0", flexible="0+"):
    transactional_ids: list[str] = string_array("0+", default=[])


class TopicData(Structure):
    topic: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class TransactionState(Structure):
    error_code: int = int16("0+", default=0)
    transactional_id: str = string("0+", default="")
    transaction_state: str = string("0+", default="")
    transaction_timeout_ms: int = int32("0+", default=0)
    transaction_start_time_ms: int = int64("0+", default=0)
    producer_id: int = int64("0+", default=0)
    producer_epoch: int = int16("0+", default=0)
    topics: list[TopicData] = array(TopicData, "0+", default=[])


class DescribeTransactionsResponse(Response, api_key=65, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    transaction_states: list[TransactionState] = array(TransactionState, "0+", default=[])
