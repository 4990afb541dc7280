"""ShareUpdate, a record of an internal topic (type 1).

Its value: version 0, always flexible.
"""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int8, int16, int32, int64, string, uuid


class ShareUpdateKey(StoredRecord, record_type=1, versions="0", flexible="none"):
    group_id: str = string("0", default="")
    topic_id: Uuid = uuid("0", default=ZERO_UUID)
    partition: int = int32("0", default=0)


class StateBatch(Structure):
    first_offset: int = int64("0+", default=0)
    last_offset: int = int64("0+", default=0)
    delivery_state: int = int8("0+", default=0)
    delivery_count: int = int16("0+", default=0)


class ShareUpdateValue(StoredRecord, record_type=1, versions="0", flexible="0+"):
    snapshot_epoch: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=0)
    start_offset: int = int64("0+", default=0)
    delivery_complete_count: int = int32("0+", default=-1, tag=0)
    state_batches: list[StateBatch] = array(StateBatch, "0+", default=[])
