"""TransactionLog, a record of an internal topic (type 0).

Its value: versions 0-1, flexible from 1.
"""

from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int8, int16, int32, int64, int_array, string


class TransactionLogKey(StoredRecord, record_type=0, versions="0", flexible="none"):
    transactional_id: str = string("0", default="")


class PartitionsSchema(Structure):
    topic: str = string("0+", default="")
    partition_ids: list[int] = int_array("int32", "0+", default=[])


class TransactionLogValue(StoredRecord, record_type=0, versions="0-1", flexible="1+"):
    producer_id: int = int64("0+", default=0)
    previous_producer_id: int = int64("1+", default=-1, tag=0)
    next_producer_id: int = int64("1+", default=-1, tag=1)
    producer_epoch: int = int16("0+", default=0)
    next_producer_epoch: int = int16("1+", default=-1, tag=3)
    transaction_timeout_ms: int = int32("0+", default=0)
    transaction_status: int = int8("0+", default=0)
    transaction_partitions: list[PartitionsSchema] | None = array(
        PartitionsSchema, "0+", nullable="0+", default=[]
    )
    transaction_last_update_timestamp_ms: int = int64("0+", default=0)
    transaction_start_timestamp_ms: int = int64("0+", default=0)
    client_transaction_version: int = int16("1+", default=0, tag=2)
