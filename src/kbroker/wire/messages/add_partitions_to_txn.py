"""AddPartitionsToTxn (key 24), versions 0-5, flexible from 3."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, int64, int_array, string


class AddPartitionsToTxnTopic(Structure):
    name: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class AddPartitionsToTxnTransaction(Structure):
    transactional_id: str = string("4+", default="")
    producer_id: int = int64("4+", default=0)
    producer_epoch: int = int16("4+", default=0)
    verify_only: bool = boolean("4+", default=False)
    topics: list[AddPartitionsToTxnTopic] = array(AddPartitionsToTxnTopic, "4+", default=[])


class AddPartitionsToTxnRequest(Request, api_key=24, versions="0-5", flexible="3+"):
    transactions: list[AddPartitionsToTxnTransaction] = array(
        AddPartitionsToTxnTransaction, "4+", default=[]
    )
    v3_and_below_transactional_id: str = string("0-3", default="")
    v3_and_below_producer_id: int = int64("0-3", default=0)
    v3_and_below_producer_epoch: int = int16("0-3", default=0)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = array(
        AddPartitionsToTxnTopic, "0-3", default=[]
    )


class AddPartitionsToTxnPartitionResult(Structure):
    partition_index: int = int32("0+", default=0)
    partition_error_code: int = int16("0+", default=0)


class AddPartitionsToTxnTopicResult(Structure):
    name: str = string("0+", default="")
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = array(
        AddPartitionsToTxnPartitionResult, "0+", default=[]
    )


class AddPartitionsToTxnResult(Structure):
    transactional_id: str = string("4+", default="")
    topic_results: list[AddPartitionsToTxnTopicResult] = array(
        AddPartitionsToTxnTopicResult, "4+", default=[]
    )


class AddPartitionsToTxnResponse(Response, api_key=24, versions="0-5", flexible="3+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("4+", default=0, ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = array(
        AddPartitionsToTxnResult, "4+", default=[]
    )
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = array(
        AddPartitionsToTxnTopicResult, "0-3", default=[]
    )
