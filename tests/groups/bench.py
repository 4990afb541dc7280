"""A shard on a bench: driven as the broker drives it, with a clock that tests move.

Records go through their bytes before they are replayed, and `restart` builds the shard anew from
them, so every test also tests that what is written is enough.
"""

from collections.abc import Iterable
from dataclasses import replace

from kbroker.groups import Caller, GroupRecord, GroupSettings, GroupShard
from kbroker.groups.group_records import decode_record, encode_record
from kbroker.machine import Outcome, Ticket
from kbroker.model import Uuid
from kbroker.wire import Message
from kbroker.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from kbroker.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from kbroker.wire.messages.heartbeat import HeartbeatRequest
from kbroker.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kbroker.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kbroker.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

SESSION_MS = 10_000
REBALANCE_MS = 60_000


def subscription(*topics: str, version: int = 1) -> bytes:
    """What a consumer sends as the metadata of its assignors."""
    message = ConsumerProtocolSubscription(topics=list(topics))
    return version.to_bytes(2, "big") + message.encode_bytes(version)


class Topics:
    """The topics of a test, each with one letter of its name as its id."""

    def __init__(self, **counts: int) -> None:
        self.counts = counts
        self.revision = 1

    def names(self) -> list[str]:
        return list(self.counts)

    def topic_id(self, topic: str) -> Uuid | None:
        return topic_id(topic) if topic in self.counts else None

    def topic_name(self, wanted: Uuid) -> str | None:
        return next((name for name in self.counts if topic_id(name) == wanted), None)

    def partition_count(self, topic: str) -> int | None:
        return self.counts.get(topic)

    def racks(self, topic: str, partition: int) -> frozenset[str]:
        return frozenset()


def topic_id(topic: str) -> Uuid:
    return Uuid(topic.encode().ljust(16, b"."))


class Bench:
    """One shard, its log, its clock, and everything it answered."""

    def __init__(self, topics: Topics | None = None, **settings: int) -> None:
        self.settings = replace(GroupSettings(), **settings)
        self.topics = topics or Topics(orders=4, bills=2)
        self.now = 100.0
        self.log: list[tuple[bytes, bytes | None]] = []
        # Who wrote the record at a place of the log inside a transaction, and which transactions
        # ended before that place.
        self.producers: dict[int, int] = {}
        self.markers: dict[int, list[tuple[int, bool]]] = {}
        self.answers: dict[Ticket, Message] = {}
        self.parked: set[Ticket] = set()
        self._tickets = 0
        self._ids = 0
        self.restart()

    @property
    def now_ms(self) -> int:
        return 1_700_000_000_000 + round(self.now * 1000)

    # --- driving -------------------------------------------------------------------

    def restart(self) -> None:
        """Lose the coordinator; another one loads the log. Nobody parked is ever answered."""
        self.parked.clear()
        self.shard = GroupShard(self.settings, self.topics)
        for place, (key, value) in enumerate([*self.log, (b"", None)]):
            for producer_id, committed in self.markers.get(place, ()):
                self.shard.replay_marker(producer_id, 0, committed)
            if key:
                record = decode_record(key, value)
                assert record is not None
                self._replay(record, self.producers.get(place))
        self.carry_out(self.shard.loaded(self.now, self.now_ms))

    def carry_out(
        self, outcome: Outcome[GroupRecord, Message], producer_id: int | None = None
    ) -> None:
        for record in outcome.records:
            written = encode_record(record)
            if producer_id is not None:
                self.producers[len(self.log)] = producer_id
            self.log.append(written)
            replayed = decode_record(*written)
            assert replayed == record
            self._replay(replayed, producer_id)
        for ticket, message in outcome.replies:
            self.parked.remove(ticket)  # every request is answered once
            self.answers[ticket] = message

    def _replay(self, record: GroupRecord, producer_id: int | None) -> None:
        if producer_id is None:
            self.shard.replay(record)
        else:
            self.shard.replay_pending(record, producer_id)

    def end(self, producer_id: int, *, commit: bool) -> None:
        """Write the marker that ends the transaction of a producer."""
        self.markers.setdefault(len(self.log), []).append((producer_id, commit))
        self.shard.replay_marker(producer_id, 0, commit)

    def ticket(self) -> Ticket:
        self._tickets += 1
        ticket = Ticket(self._tickets)
        self.parked.add(ticket)
        return ticket

    def wait(self, seconds: float) -> None:
        """Let time pass, with every deadline on the way."""
        end = self.now + seconds
        while (at := self.shard.next_deadline()) is not None and at <= end:
            self.now = max(self.now, at)
            self.carry_out(self.shard.on_time(self.now, self.now_ms))
        self.now = end

    def records(self) -> list[GroupRecord]:
        """Everything that was written so far."""
        decoded = [decode_record(key, value) for key, value in self.log]
        return [record for record in decoded if record is not None]

    # --- requests --------------------------------------------------------------------

    def join(
        self,
        member_id: str = "",
        *,
        group: str = "g",
        instance: str | None = None,
        version: int = 9,
        protocol_type: str = "consumer",
        protocols: Iterable[tuple[str, bytes]] = (("range", subscription("orders")),),
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        client: str = "client",
    ) -> Ticket:
        self._ids += 1
        ticket = self.ticket()
        request = JoinGroupRequest(
            group_id=group,
            member_id=member_id,
            group_instance_id=instance,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name=n, metadata=m) for n, m in protocols],
        )
        caller = Caller(client, "/127.0.0.1", version)
        new_id = f"{instance or client}-{self._ids}"
        self.carry_out(
            self.shard.join_group(request, caller, ticket, self.now, self.now_ms, new_id)
        )
        return ticket

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: dict[str, bytes] | None = None,
        *,
        group: str = "g",
        instance: str | None = None,
        version: int = 5,
        protocol_type: str | None = "consumer",
        protocol_name: str | None = "range",
    ) -> Ticket:
        ticket = self.ticket()
        request = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocol_name=protocol_name,
            assignments=[
                SyncGroupRequestAssignment(member_id=member, assignment=assignment)
                for member, assignment in (assignments or {}).items()
            ],
        )
        caller = Caller("client", "/127.0.0.1", version)
        self.carry_out(self.shard.sync_group(request, caller, ticket, self.now, self.now_ms))
        return ticket

    def heartbeat(
        self, member_id: str, generation: int, *, group: str = "g", instance: str | None = None
    ) -> int:
        """The error code of a heartbeat."""
        ticket = self.ticket()
        request = HeartbeatRequest(
            group_id=group,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance,
        )
        self.carry_out(self.shard.heartbeat(request, ticket, self.now, self.now_ms))
        return self.answers[ticket].error_code

    def leave(self, *members: str | MemberIdentity, group: str = "g", version: int = 5) -> Message:
        ticket = self.ticket()
        identities = [
            MemberIdentity(member_id=each) if isinstance(each, str) else each for each in members
        ]
        request = LeaveGroupRequest(group_id=group, members=identities)
        if version < 3:
            request = LeaveGroupRequest(group_id=group, member_id=identities[0].member_id)
        caller = Caller("client", "/127.0.0.1", version)
        self.carry_out(self.shard.leave_group(request, caller, ticket, self.now, self.now_ms))
        return self.answers[ticket]

    def commit(
        self,
        offsets: dict[tuple[str, int], int],
        *,
        group: str = "g",
        member_id: str = "",
        generation: int = -1,
        instance: str | None = None,
        version: int = 9,
        metadata: str | None = "",
        leader_epoch: int = -1,
        retention_ms: int = -1,
        with_ids: bool = False,
    ) -> int:
        """The error code of a commit; it must be the same for all partitions."""
        ticket = self.ticket()
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member_id,
            group_instance_id=instance,
            retention_time_ms=retention_ms,
        )
        for (topic, partition), offset in offsets.items():
            each = OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=partition,
                        committed_offset=offset,
                        committed_leader_epoch=leader_epoch,
                        committed_metadata=metadata,
                    )
                ],
            )
            if with_ids:
                each.topic_id = topic_id(topic)
            request.topics.append(each)
        caller = Caller("client", "/127.0.0.1", version)
        self.carry_out(self.shard.offset_commit(request, caller, ticket, self.now, self.now_ms))
        response = self.answers[ticket]
        (code,) = {each.error_code for topic in response.topics for each in topic.partitions}
        return code

    def commit_in_transaction(
        self,
        producer_id: int,
        offsets: dict[tuple[str, int], int],
        *,
        group: str = "g",
        member_id: str = "",
        generation: int = -1,
        instance: str | None = None,
        version: int = 6,
        metadata: str | None = "",
    ) -> int:
        """The error code of a commit inside a transaction, the same for all partitions."""
        ticket = self.ticket()
        request = TxnOffsetCommitRequest(
            transactional_id="t",
            group_id=group,
            producer_id=producer_id,
            generation_id_or_member_epoch=generation,
            member_id=member_id,
            group_instance_id=instance,
        )
        for (topic, partition), offset in offsets.items():
            each = TxnOffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata=metadata
            )
            request.topics.append(
                TxnOffsetCommitRequestTopic(name=topic, topic_id=topic_id(topic), partitions=[each])
            )
        caller = Caller("client", "/127.0.0.1", version)
        self.carry_out(
            self.shard.txn_offset_commit(request, caller, ticket, self.now_ms), producer_id
        )
        response = self.answers[ticket]
        (code,) = {each.error_code for topic in response.topics for each in topic.partitions}
        return code

    def fetch(
        self,
        *partitions: tuple[str, int],
        group: str = "g",
        require_stable: bool = True,
        with_ids: bool = False,
        member_id: str | None = None,
        member_epoch: int = -1,
    ) -> Message:
        """The answer to a fetch of these partitions, or of all."""
        ticket = self.ticket()
        request = OffsetFetchRequestGroup(
            group_id=group, member_id=member_id, member_epoch=member_epoch, topics=None
        )
        if partitions:
            request.topics = [
                OffsetFetchRequestTopics(name=topic, partition_indexes=[partition])
                for topic, partition in partitions
            ]
            if with_ids:
                for each in request.topics:
                    each.topic_id = topic_id(each.name)
        self.carry_out(self.shard.offset_fetch(request, require_stable, ticket))
        return self.answers[ticket]

    def consumer_heartbeat(
        self,
        member_id: str,
        epoch: int = 0,
        *,
        group: str = "g",
        topics: list[str] | None = None,
        owned: list[RequestTopicPartitions] | None = None,
    ) -> Message:
        """The answer to a heartbeat of the consumer protocol; an epoch of 0 joins, -1 leaves."""
        ticket = self.ticket()
        request = ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=member_id,
            member_epoch=epoch,
            rebalance_timeout_ms=REBALANCE_MS if epoch == 0 else -1,
            subscribed_topic_names=topics or (["orders"] if epoch == 0 else None),
            topic_partitions=owned if owned is not None or epoch else [],
        )
        caller = Caller("client", "/127.0.0.1", 1)
        self.carry_out(
            self.shard.consumer_group_heartbeat(
                request, caller, ticket, self.now, self.now_ms, "unused"
            )
        )
        return self.answers[ticket]

    def fetched(self, *partitions: tuple[str, int], group: str = "g") -> dict[tuple[str, int], int]:
        """The offsets of a fetch, by topic and partition."""
        answer = self.fetch(*partitions, group=group)
        return {
            (topic.name, each.partition_index): each.committed_offset
            for topic in answer.topics
            for each in topic.partitions
        }

    # --- shortcuts -------------------------------------------------------------------

    def member_id(self, **options: object) -> str:
        """The id that a new dynamic member is given (KIP-394)."""
        return self.answers[self.join(**options)].member_id

    def describe(self, group: str = "g", version: int = 6) -> Message:
        return self.shard.describe_group(group, Caller("admin", "/127.0.0.1", version))

    def state(self, group: str = "g") -> str:
        return self.describe(group).group_state

    def stable(self, count: int, **options: object) -> list[str]:
        """The ids of ``count`` members of a group that is stable; the first one leads."""
        ids = [self.member_id(**options) for _ in range(count)]
        for member_id in ids:
            self.join(member_id, **options)
        self.wait(12)
        generation = self.generation()
        for member_id in reversed(ids):
            self.sync(member_id, generation, {each: each.encode() for each in ids})
        assert self.state() == "Stable"
        return ids

    def generation(self, group: str = "g") -> int:
        """The generation, as the members were told last."""
        joins = [a for a in self.answers.values() if getattr(a, "generation_id", -1) != -1]
        return joins[-1].generation_id
