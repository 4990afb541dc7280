"""Clients of both protocols, who do as they are told; and groups of them."""

from typing import TYPE_CHECKING

from kbroker.groups.caller import Caller
from kbroker.groups.embedded_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    RequestTopicPartitions,
)
from kbroker.wire.messages.consumer_protocol import (
    ConsumerProtocolSubscription,
    SubscriptionTopicPartition,
)
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
from tests.groups.consumer_bench import GROUP, Bench, Owned

if TYPE_CHECKING:
    from kbroker.machine import Ticket
    from kbroker.model import Uuid


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


def settle(*consumers: Consumer) -> None:
    """Let all send heartbeats until nothing moves."""
    for _ in range(4):
        for consumer in consumers:
            assert consumer.beat() is ErrorCode.NONE


def turns(*members: Consumer | ClassicConsumer, rounds: int = 5) -> None:
    """Let members of both protocols go on for a while."""
    for _ in range(rounds):
        for member in members:
            if isinstance(member, Consumer):
                assert member.beat() is ErrorCode.NONE
            else:
                member.live()


def classic_group(bench: Bench, *members: ClassicConsumer) -> None:
    """Bring members into a stable classic group; those who wait in it already join with them."""
    for member in members:
        if member.parked is None:
            member.join()
    bench.advance(0.01)
    for member in members:
        if member.parked is not None:
            assert member.take_join() is ErrorCode.NONE
    for member in sorted(members, key=lambda member: not member.joined.members):
        assert member.sync() is ErrorCode.NONE
