"""A shell for consumer and classic groups in tests: it appends, replays, keeps time, reloads.

Every record goes through its bytes, as in the log, so a test that passes here also
says that what was written can be read again.
"""

from dataclasses import dataclass, field

from kbroker.config import GroupConfig
from kbroker.groups.caller import Caller
from kbroker.groups.classic_answers import GroupOutcome
from kbroker.groups.classic_groups import ClassicGroups
from kbroker.groups.consumer_group import CONSUMER_KEYS, ConsumerGroup
from kbroker.groups.consumer_groups import ConsumerGroups
from kbroker.groups.embedded_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
from kbroker.groups.group_records import decode_record, encode_record
from kbroker.groups.moment import Moment
from kbroker.groups.settings import GroupSettings
from kbroker.machine import Ticket
from kbroker.model import Uuid
from kbroker.wire import ErrorCode, Message
from kbroker.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    RequestTopicPartitions,
)
from kbroker.wire.messages.consumer_protocol import (
    ConsumerProtocolSubscription,
    SubscriptionTopicPartition,
)
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kbroker.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kbroker.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kbroker.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from kbroker.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

GROUP = "readers"

Owned = set[tuple[str, int]]


class Topics:
    """The topics of a cluster that a test changes as it likes."""

    def __init__(self, **counts: int) -> None:
        self.revision = 0
        self._topics: dict[str, tuple[Uuid, int]] = {}
        self._made = 0
        for name, count in counts.items():
            self.create(name, count)

    def create(self, name: str, count: int) -> None:
        self._made += 1
        self.revision += 1
        self._topics[name] = (Uuid(self._made.to_bytes(16)), count)

    def grow(self, name: str, count: int) -> None:
        self.revision += 1
        self._topics[name] = (self._topics[name][0], count)

    def delete(self, name: str) -> None:
        self.revision += 1
        del self._topics[name]

    def names(self) -> list[str]:
        return list(self._topics)

    def topic_id(self, topic: str) -> Uuid | None:
        found = self._topics.get(topic)
        return None if found is None else found[0]

    def topic_name(self, topic_id: Uuid) -> str | None:
        return next((name for name, (each, _) in self._topics.items() if each == topic_id), None)

    def partition_count(self, topic: str) -> int | None:
        found = self._topics.get(topic)
        return None if found is None else found[1]

    def racks(self, topic: str, partition: int) -> frozenset[str]:
        return frozenset()


@dataclass
class Bench:
    """One shard of groups, and everything around it."""

    topics: Topics
    settings: GroupSettings = field(default_factory=GroupSettings)
    config: GroupConfig | None = None
    now: float = 1_000.0
    log: list[tuple[bytes, bytes | None]] = field(default_factory=list)
    answers: dict[Ticket, Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tickets = 0
        self.start()

    def start(self) -> None:
        self.classic = ClassicGroups(self.settings)
        self.groups = ConsumerGroups(
            self.settings, self.topics, self.classic, lambda _group: self.config
        )
        for key, value in self.log:
            self._replay(key, value)
        self.run(self.classic.loaded(self.at))
        self.run(self.groups.loaded(self.at))

    def reload(self, *, compact: bool) -> None:
        """Start anew from the log, with or without what compaction would drop."""
        if compact:
            last = {key: index for index, (key, _) in enumerate(self.log)}
            self.log = [
                (key, value)
                for index, (key, value) in enumerate(self.log)
                if last[key] == index and value is not None
            ]
        self.start()

    @property
    def at(self) -> Moment:
        return Moment(self.now, int(self.now * 1_000))

    def group(self, group_id: str = GROUP) -> ConsumerGroup:
        found = self.groups.get(group_id)
        assert found is not None
        return found

    def run(self, outcome: GroupOutcome) -> None:
        for record in outcome.records:
            key, value = encode_record(record)
            self.log.append((key, value))
            self._replay(key, value)
        self.answers.update(outcome.replies)

    def _replay(self, key: bytes, value: bytes | None) -> None:
        record = decode_record(key, value)
        assert record is not None
        if isinstance(record.key, CONSUMER_KEYS):
            self.groups.replay(record)
        else:
            assert isinstance(record.key, GroupMetadataKey)
            assert isinstance(record.value, GroupMetadataValue | None)
            self.classic.replay(record.key.group, record.value)

    def advance(self, seconds: float) -> None:
        """Let time pass, with every deadline in it served on time."""
        end = self.now + seconds
        while True:
            deadlines = (self.classic.next_deadline(), self.groups.next_deadline())
            due = min((each for each in deadlines if each is not None), default=None)
            if due is None or due > end:
                break
            self.now = max(self.now, due)
            self.run(self.classic.on_time(self.at))
            self.run(self.groups.on_time(self.at))
        self.now = end

    def topics_changed(self) -> None:
        self.run(self.groups.on_topics_changed(self.at))

    def ticket(self) -> Ticket:
        self._tickets += 1
        return Ticket(self._tickets)

    def heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, version: int = 1
    ) -> ConsumerGroupHeartbeatResponse:
        ticket = self.ticket()
        caller = Caller("client", "/127.0.0.1", version)
        self.run(self.groups.heartbeat(request, caller, ticket, self.at, f"made-{ticket}"))
        answer = self.answers.pop(ticket)
        assert isinstance(answer, ConsumerGroupHeartbeatResponse)
        return answer

    def names(self, partitions: object) -> Owned:
        """Partitions by the names of their topics, from whatever has ids."""
        assert isinstance(partitions, set | frozenset | dict)
        return {
            (name, partition)
            for topic_id, partition in partitions
            if (name := self.topics.topic_name(topic_id)) is not None
        }

    def target(self, member_id: str) -> Owned:
        return self.names(self.group().target(member_id))


class Consumer:
    """A client of the new protocol, which does as it is told, one heartbeat at a time."""

    def __init__(
        self,
        bench: Bench,
        member_id: str,
        *topics: str,
        regex: str | None = None,
        instance_id: str | None = None,
        assignor: str | None = None,
        rebalance_timeout_ms: int = 10_000,
    ) -> None:
        self.bench = bench
        self.member_id = member_id
        self.topics: list[str] | None = list(topics) if topics or regex is None else None
        self.regex = regex
        self.instance_id = instance_id
        self.assignor = assignor
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.epoch = 0
        self.owned: set[tuple[Uuid, int]] = set()
        self.last = ConsumerGroupHeartbeatResponse()

    def request(self, epoch: int) -> ConsumerGroupHeartbeatRequest:
        by_topic: dict[Uuid, list[int]] = {}
        for topic_id, partition in sorted(self.owned):
            by_topic.setdefault(topic_id, []).append(partition)
        return ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=epoch,
            instance_id=self.instance_id,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            subscribed_topic_names=self.topics,
            subscribed_topic_regex=self.regex,
            server_assignor=self.assignor,
            topic_partitions=[
                RequestTopicPartitions(topic_id=topic_id, partitions=partitions)
                for topic_id, partitions in by_topic.items()
            ],
        )

    def beat(self) -> ErrorCode:
        """Send a heartbeat and take what it brings; a fenced consumer drops all and joins anew."""
        self.last = self.bench.heartbeat(self.request(self.epoch))
        error = ErrorCode(self.last.error_code)
        if error in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self.epoch, self.owned = 0, set()
        elif error is ErrorCode.NONE:
            self.epoch = self.last.member_epoch
            if self.last.assignment is not None:
                self.owned = {
                    (topic.topic_id, partition)
                    for topic in self.last.assignment.topic_partitions
                    for partition in topic.partitions
                }
        return error

    def leave(self, epoch: int = -1) -> ErrorCode:
        answer = self.bench.heartbeat(self.request(epoch))
        self.epoch, self.owned = 0, set()
        return ErrorCode(answer.error_code)

    @property
    def reads(self) -> Owned:
        return self.bench.names(self.owned)


class ClassicConsumer:
    """A client of the classic protocol; it is the leader's assignor too, if it is made leader."""

    def __init__(
        self,
        bench: Bench,
        *topics: str,
        instance_id: str | None = None,
        cooperative: bool = False,
        protocol: str = "range",
    ) -> None:
        self.bench = bench
        self.topics = topics
        self.instance_id = instance_id
        self.cooperative = cooperative
        self.protocol = protocol
        self.member_id = ""
        self.generation = -1
        self.owned: Owned = set()
        self.parked: Ticket | None = None
        self.parked_sync: Ticket | None = None
        self.joined = JoinGroupResponse()

    def subscription(self) -> bytes:
        owned: dict[str, list[int]] = {}
        for topic, partition in sorted(self.owned if self.cooperative else set()):
            owned.setdefault(topic, []).append(partition)
        message = ConsumerProtocolSubscription(
            topics=list(self.topics),
            owned_partitions=[
                SubscriptionTopicPartition(topic=topic, partitions=partitions)
                for topic, partitions in owned.items()
            ],
        )
        return (1).to_bytes(2) + message.encode_bytes(1)

    def join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=30_000,
            rebalance_timeout_ms=20_000,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=self.protocol, metadata=self.subscription())],
        )

    def join(self, version: int = 9) -> ErrorCode | None:
        """Send a join, and another with the id that it may bring; None if it waits."""
        error = self._join_once(version)
        if error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = self.joined.member_id
            error = self._join_once(version)
        return error

    def _join_once(self, version: int) -> ErrorCode | None:
        ticket = self.bench.ticket()
        caller = Caller("classic", "/127.0.0.1", version)
        side = self.bench.groups if GROUP in self.bench.groups else self.bench.classic
        request = self.join_request()
        self.bench.run(side.join(request, caller, ticket, self.bench.at, f"classic-{ticket}"))
        self.parked = ticket
        return self.take_join()

    def take_join(self) -> ErrorCode | None:
        """The answer of the join that was sent last, if there is one by now."""
        assert self.parked is not None
        answer = self.bench.answers.pop(self.parked, None)
        if answer is None:
            return None
        assert isinstance(answer, JoinGroupResponse)
        self.parked = None
        self.joined = answer
        if answer.error_code == ErrorCode.NONE:
            self.member_id = answer.member_id
            self.generation = answer.generation_id
        return ErrorCode(answer.error_code)

    def sync(self) -> ErrorCode | None:
        """Ask for the assignment; a leader gives every member every topic's same partition."""
        assignments = []
        members = self.joined.members
        for index, member in enumerate(members):
            topics = decode_subscription(member.metadata).topics
            assignments.append(
                SyncGroupRequestAssignment(
                    member_id=member.member_id,
                    assignment=self._share(topics, index, len(members)),
                )
            )
        ticket = self.bench.ticket()
        caller = Caller("classic", "/127.0.0.1", 5)
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocol_name=self.protocol,
            assignments=assignments,
        )
        if GROUP in self.bench.groups:
            self.bench.run(self.bench.groups.sync(request, ticket, self.bench.at))
        else:
            self.bench.run(self.bench.classic.sync(request, caller, ticket, self.bench.at))
        self.parked_sync = ticket
        return self.take_sync()

    def take_sync(self) -> ErrorCode | None:
        """The answer of the sync that was sent last, if there is one by now."""
        assert self.parked_sync is not None
        answer = self.bench.answers.pop(self.parked_sync, None)
        if answer is None:
            return None
        assert isinstance(answer, SyncGroupResponse)
        self.parked_sync = None
        if answer.error_code == ErrorCode.NONE:
            self.owned = {
                (topic.topic, partition)
                for topic in decode_assignment(answer.assignment).assigned_partitions
                for partition in topic.partitions
            }
        return ErrorCode(answer.error_code)

    def _share(self, topics: list[str], index: int, size: int) -> bytes:
        partitions = set()
        for topic in topics:
            topic_id, count = self.bench.topics.topic_id(topic), 0
            if topic_id is not None:
                count = self.bench.topics.partition_count(topic) or 0
                partitions |= {(topic_id, number) for number in range(index, count, size)}
        return encode_assignment(partitions, self.bench.topics, 1)

    def beat(self) -> ErrorCode:
        ticket = self.bench.ticket()
        request = HeartbeatRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        if GROUP in self.bench.groups:
            self.bench.run(self.bench.groups.classic_heartbeat(request, ticket, self.bench.at))
        else:
            self.bench.run(self.bench.classic.heartbeat(request, ticket, self.bench.at))
        answer = self.bench.answers.pop(ticket)
        assert isinstance(answer, HeartbeatResponse)
        return ErrorCode(answer.error_code)

    def live(self) -> None:
        """One turn of the client's loop: a heartbeat, and a join and sync if it asks for them."""
        error = self.beat()
        if error is ErrorCode.REBALANCE_IN_PROGRESS:
            if not self.cooperative:
                self.owned = set()
            if self.join() is ErrorCode.NONE:
                self.sync()

    def turn(self) -> None:
        """One turn of a client that copes with everything; it owns nothing while it joins."""
        if self.parked is not None:
            self._after_join(self.take_join())
        elif self.parked_sync is not None:
            self._after_sync(self.take_sync())
        elif self.generation < 0:
            self._after_join(self.join())
        else:
            error = self.beat()
            if error is not ErrorCode.NONE:
                self._start_over(error)
                self._after_join(self.join())

    def _after_join(self, error: ErrorCode | None) -> None:
        if error is ErrorCode.NONE:
            self._after_sync(self.sync())
        elif error is not None:
            self._start_over(error)

    def _after_sync(self, error: ErrorCode | None) -> None:
        if error not in (ErrorCode.NONE, None):
            self._start_over(error)

    def _start_over(self, error: ErrorCode | None) -> None:
        """Own nothing, and join again; under the same id only if the group still knows it."""
        self.generation, self.owned = -1, set()
        self.parked = self.parked_sync = None
        if error not in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.NOT_COORDINATOR):
            self.member_id = ""

    def lose_coordinator(self) -> None:
        """What the shell answers to those who wait when a coordinator moves."""
        if self.parked is not None or self.parked_sync is not None:
            self._start_over(ErrorCode.NOT_COORDINATOR)

    def leave(self) -> ErrorCode:
        ticket = self.bench.ticket()
        caller = Caller("classic", "/127.0.0.1", 5)
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        request = LeaveGroupRequest(group_id=GROUP, members=[identity])
        side = self.bench.groups if GROUP in self.bench.groups else self.bench.classic
        self.bench.run(side.leave(request, caller, ticket, self.bench.at))
        answer = self.bench.answers.pop(ticket)
        assert isinstance(answer, LeaveGroupResponse)
        return ErrorCode(answer.members[0].error_code)
