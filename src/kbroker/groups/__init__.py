"""Classic and consumer groups, and the offsets they commit; sans-IO.

shard              GroupShard, all groups of one partition of __consumer_offsets
caller             Caller, who sends a request
settings           GroupSettings, the configs that groups look at
topics_view        TopicsView, what groups ask about topics
group_records      GroupRecord, what is written to the log, and its bytes
offsets            OffsetStore, committed offsets: commit, fetch, delete, expire
classic_group      ClassicGroup: its states, its members, its generation
classic_member     ClassicMember, one member of a classic group
classic_rebalance  how a classic group comes from one generation to the next
classic_join       JoinGroup        classic_sync   SyncGroup and Heartbeat
classic_leave      LeaveGroup       classic_groups all classic groups of a shard
"""

from kbroker.groups.caller import Caller
from kbroker.groups.group_records import GroupRecord, decode_record, encode_record
from kbroker.groups.settings import GroupSettings
from kbroker.groups.shard import GroupShard
from kbroker.groups.topics_view import TopicsView

__all__ = [
    "Caller",
    "GroupRecord",
    "GroupSettings",
    "GroupShard",
    "TopicsView",
    "decode_record",
    "encode_record",
]
