"""Many members at once, each on a connection of its own.

Requests are made into bytes beforehand and answers are only looked at where their content matters,
so that what is measured is the broker and not the crowd. All members have one request under way.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, cast

from benchmarks.hot_path.brokers import RunningBroker
from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.group_offsets import committed_offsets
from kbroker.wire import ErrorCode
from kbroker.wire.headers import encode_request_frame
from kbroker.wire.message import Request
from kbroker.wire.messages.heartbeat import HeartbeatRequest
from kbroker.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

# Versions that both brokers know, without and with flexible fields.
_JOIN, _SYNC, _HEARTBEAT, _COMMIT = 5, 3, 4, 8
_ASSIGNMENT = bytes(60)


@dataclass
class Rate:
    """How many requests were answered, and what that cost the broker."""

    requests: int
    took_s: float
    broker_cpu_s: float

    @property
    def per_s(self) -> float:
        """Requests answered in a second."""
        return self.requests / self.took_s

    @property
    def cpu_us(self) -> float:
        """Processor time of the broker for each request."""
        return self.broker_cpu_s * 1e6 / self.requests


@dataclass
class _Member:
    connection: Connection
    group_id: str
    member_id: str = ""
    generation: int = -1
    is_leader: bool = False


class Crowd:
    """Members in ``groups`` groups, evenly."""

    def __init__(self, broker: RunningBroker, *, members: int, groups: int, name: str) -> None:
        self._broker = broker
        host, port = broker.bootstrap.rsplit(":", 1)
        self._members = [
            _Member(
                Connection(host, int(port), "bench", timeout_s=120), f"{name}-{number % groups}"
            )
            for number in range(members)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self._members:
            member.connection.close()

    def join(self) -> float:
        """Everyone joins and syncs; how long it took until all had their assignments."""
        self._find_coordinators()
        began_at = time.monotonic()
        for member, answer in zip(self._members, self._join_all(), strict=True):
            assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED, answer
            member.member_id = answer.member_id
        groups: dict[str, list[str]] = {}
        for member, answer in zip(self._members, self._join_all(), strict=True):
            assert answer.error_code == ErrorCode.NONE, answer
            member.generation = answer.generation_id
            member.is_leader = answer.leader == member.member_id
            groups.setdefault(member.group_id, []).append(member.member_id)
        for member in self._members:
            member.connection.send(self._sync_of(member, groups[member.group_id]), _SYNC)
        for member in self._members:
            synced = member.connection.receive()
            assert isinstance(synced, SyncGroupResponse)
            assert synced.error_code == ErrorCode.NONE, synced
        return time.monotonic() - began_at

    def _find_coordinators(self) -> None:
        """Wait until every group has one; the first to ask makes the topic they need."""
        with Cluster(self._broker.bootstrap) as cluster:
            for group_id in {member.group_id for member in self._members}:
                committed_offsets(cluster, group_id)

    def _join_all(self) -> list[JoinGroupResponse]:
        for member in self._members:
            request = JoinGroupRequest(
                group_id=member.group_id,
                session_timeout_ms=60_000,
                rebalance_timeout_ms=60_000,
                member_id=member.member_id,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=bytes(40))],
            )
            member.connection.send(request, _JOIN)
        answers = [member.connection.receive() for member in self._members]
        return [answer for answer in answers if isinstance(answer, JoinGroupResponse)]

    def _sync_of(self, member: _Member, members: list[str]) -> SyncGroupRequest:
        assignments = [
            SyncGroupRequestAssignment(member_id=each, assignment=_ASSIGNMENT) for each in members
        ]
        return SyncGroupRequest(
            group_id=member.group_id,
            generation_id=member.generation,
            member_id=member.member_id,
            assignments=assignments if member.is_leader else [],
        )

    def beat(self, rounds: int) -> Rate:
        """Everyone sends heartbeats."""

        def heartbeat(member: _Member) -> Request:
            return HeartbeatRequest(
                group_id=member.group_id,
                generation_id=member.generation,
                member_id=member.member_id,
            )

        return self._repeat(heartbeat, _HEARTBEAT, rounds)

    def commit(self, rounds: int, topic: str, partitions: int) -> Rate:
        """Everyone commits offsets of all partitions of a topic."""
        committed = [
            OffsetCommitRequestPartition(partition_index=number, committed_offset=number)
            for number in range(partitions)
        ]

        def commit(member: _Member) -> Request:
            return OffsetCommitRequest(
                group_id=member.group_id,
                generation_id_or_member_epoch=member.generation,
                member_id=member.member_id,
                topics=[OffsetCommitRequestTopic(name=topic, partitions=committed)],
            )

        return self._repeat(commit, _COMMIT, rounds)

    def _repeat(self, request: Callable[[_Member], Request], version: int, rounds: int) -> Rate:
        frames = [
            # None of these requests holds a piece of a file.
            b"".join(cast(list[bytes], encode_request_frame(1, "bench", request(member), version)))
            for member in self._members
        ]
        answer = b""
        before_s, began_at = self._broker.cpu_s(), time.monotonic()
        for _ in range(rounds):
            for member, frame in zip(self._members, frames, strict=True):
                member.connection.send_raw(frame)
            for member in self._members:
                answer = member.connection.receive_frame()
        took_s = time.monotonic() - began_at
        cpu_s = self._broker.cpu_s() - before_s
        # The errors of both answers are their last numbers; the tags behind them are zeros too.
        assert not any(answer[-4:]), answer
        return Rate(rounds * len(frames), took_s, cpu_s)
