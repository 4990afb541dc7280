"""Classic and consumer groups, and the offsets they commit; sans-IO.

shard                  GroupShard, all groups of one partition of __consumer_offsets
caller                 Caller, who sends a request
moment                 Moment, one moment on both clocks
settings               GroupSettings, the configs that groups look at
topics_view            TopicsView, what groups ask about topics
group_records          GroupRecord, what is written to the log, and its bytes
describing             DescribeGroups and ListGroups

offsets                OffsetStore, what was committed
committed_offset       CommittedOffset, one offset
pending_offsets        PendingOffsets, those of transactions that have not ended
offset_requests        OffsetCommit, TxnOffsetCommit, OffsetFetch, OffsetDelete and expiry
transactional_commit   who may commit in a transaction, and the records of it
offset_rules           what classic groups say about their offsets
consumer_offset_rules  what consumer groups say about theirs

classic_groups         ClassicGroups, all classic groups of a shard
classic_group          ClassicGroup: its states, its members, its generation
classic_member         ClassicMember, one member of a classic group
classic_rebalance      how a classic group comes from one generation to the next
classic_join           JoinGroup
classic_sync           SyncGroup and Heartbeat
classic_leave          LeaveGroup
classic_answers        what members of classic groups are told

consumer_groups        ConsumerGroups, all consumer groups of a shard (KIP-848), and the map of
                       the modules behind it
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
