"""Many members at once, each on a connection of its own.

The crowd joins by itself; what its members then send, heartbeats and commits, it only prepares as
bytes, and the raw generator sends it: what is measured is the broker and not the crowd.
"""

import time
from dataclasses import dataclass
from typing import Self

from benchmarks.measuring.frames import frame
from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.group_offsets import committed_offsets
from kbroker.wire import ErrorCode
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

# Versions that both brokers know.
_JOIN, _SYNC = 5, 3
_ASSIGNMENT = bytes(60)


@dataclass
class _Member:
    connection: Connection
    group_id: str
    member_id: str = ""
    generation: int = -1
    is_leader: bool = False


class Crowd:
    """Members in ``groups`` groups, evenly."""

    # The versions of what it prepares.
    HEARTBEAT, COMMIT = 4, 8

    def __init__(self, bootstrap: str, *, members: int, groups: int, name: str) -> None:
        self._bootstrap = bootstrap
        host, port = bootstrap.rsplit(":", 1)
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
        with Cluster(self._bootstrap) as cluster:
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

    def heartbeats(self) -> list[bytes]:
        """The heartbeat of each member."""
        return [
            frame(
                HeartbeatRequest(
                    group_id=member.group_id,
                    generation_id=member.generation,
                    member_id=member.member_id,
                ),
                self.HEARTBEAT,
            )
            for member in self._members
        ]

    def commits(self, topic: str, partitions: int) -> list[bytes]:
        """A commit by each member, of offsets of all partitions of a topic."""
        committed = [
            OffsetCommitRequestPartition(partition_index=number, committed_offset=number)
            for number in range(partitions)
        ]
        return [
            frame(
                OffsetCommitRequest(
                    group_id=member.group_id,
                    generation_id_or_member_epoch=member.generation,
                    member_id=member.member_id,
                    topics=[OffsetCommitRequestTopic(name=topic, partitions=committed)],
                ),
                self.COMMIT,
            )
            for member in self._members
        ]
