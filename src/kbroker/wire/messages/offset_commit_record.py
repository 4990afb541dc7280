"""OffsetCommit, a record of an internal topic (type 1).

Its value: versions 0-4, flexible from 4.
"""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import StoredRecord
from kbroker.wire.notation import int32, int64, string, uuid


class OffsetCommitKey(StoredRecord, record_type=1, versions="0", flexible="none"):
    group: str = string("0", default="")
    topic: str = string("0", default="")
    partition: int = int32("0", default=0)


class OffsetCommitValue(StoredRecord, record_type=1, versions="0-4", flexible="4+"):
    offset: int = int64("0+", default=0)
    leader_epoch: int = int32("3+", default=-1, ignorable=True)
    metadata: str = string("0+", default="")
    commit_timestamp: int = int64("0+", default=0)
    expire_timestamp: int = int64("1", default=-1, ignorable=True)
    topic_id: Uuid = uuid("4+", default=ZERO_UUID, tag=0, ignorable=True)
