"""LegacyOffsetCommit, a record of an internal topic (type 0).

Its value: version 0, never flexible.
"""

from kbroker.wire.message import StoredRecord
from kbroker.wire.notation import int32, int64, string


class LegacyOffsetCommitKey(StoredRecord, record_type=0, versions="0", flexible="none"):
    group: str = string("0", default="")
    topic: str = string("0", default="")
    partition: int = int32("0", default=0)


class LegacyOffsetCommitValue(StoredRecord, record_type=0, versions="0", flexible="none"):
    offset: int = int64("0", default=0)
    metadata: str = string("0", default="")
    commit_timestamp: int = int64("0", default=0)
