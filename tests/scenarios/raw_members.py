"""Members of groups without a client library: one thread, one connection, one request at a time.

They do what the protocols ask of a member and nothing else, so that thirty of them are cheap and
each step can be written down. A classic member hands out partitions itself when it is the leader;
a member of a consumer group is told its own. Both commit ever larger offsets for what they own, and
both go on after the broker was away: with the same member id, as long as the coordinator knows it.
"""

import contextlib
import json
import random
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from uuid import uuid4

from kbroker.client.connection import Connection
from kbroker.client.errors import ClientError
from kbroker.model import Uuid
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    RequestTopicPartitions,
)
from kbroker.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kbroker.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kbroker.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kbroker.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from tests.scenarios.group_history import GroupHistory

_BEAT_S = 0.2


@dataclass(frozen=True)
class Stage:
    """What all members of a test share."""

    host: str
    port: int
    group_id: str
    topic: str
    topic_id: Uuid
    partitions: int
    session_timeout_ms: int
    history: GroupHistory


class RawMember(ABC):
    """A thread that joins, works and leaves, until `stop`.

    ``restless`` is the chance at each beat that it leaves and joins again as somebody new,
    ``silent`` the chance that it does so without a word. What it did not expect is in ``failures``.
    """

    def __init__(
        self, stage: Stage, seed: int, *, restless: float = 0.0, silent: float = 0.0
    ) -> None:
        self.stage = stage
        self.restless = restless
        self._silent = silent
        self.failures: list[str] = []
        self.member_id = ""
        self.epoch = -1
        self.owned: frozenset[int] = frozenset()
        self._dice = random.Random(seed)
        self._stopping = threading.Event()
        self._connection: Connection | None = None
        self._thread = threading.Thread(target=self._run, name=f"member {seed}")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Leave in good order."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        self._stopping.wait(self._dice.uniform(0, 1))
        while not self._stopping.is_set():
            try:
                self.live()
                self._rest()
            except ClientError:
                self._disconnect()  # the broker is away; it comes back
                self._stopping.wait(0.05)
            except AssertionError as error:
                self.failures.append(f"{self.member_id}: {error}")
                break
        with contextlib.suppress(ClientError):
            self.leave()
        self._disconnect()

    def _rest(self) -> None:
        """One pause, and perhaps the end of this member and the beginning of another."""
        self._stopping.wait(self._dice.uniform(0.5, 1.5) * _BEAT_S)
        if self._dice.random() < self.restless:
            if self._dice.random() >= self._silent:
                self.leave()
            self.forget()
            self._stopping.wait(self._dice.uniform(0, 1))

    @property
    def connection(self) -> Connection:
        if self._connection is None or not self._connection.is_open:
            self._connection = Connection(self.stage.host, self.stage.port, timeout_s=20.0)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @abstractmethod
    def live(self) -> None:
        """One beat: join if need be, tell that we are there, commit something."""

    @abstractmethod
    def leave(self) -> None:
        """Tell the coordinator that we go."""

    def forget(self) -> None:
        """Be somebody new from now on."""
        self.member_id, self.epoch, self.owned = "", -1, frozenset()

    def commit(self) -> None:
        """A larger offset for one of our partitions; a refusal is a fair answer to a late one."""
        if not self.owned:
            return
        stage, partition = self.stage, self._dice.choice(sorted(self.owned))
        offset = stage.history.attempted(partition)
        wanted = OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
        request = OffsetCommitRequest(
            group_id=stage.group_id,
            generation_id_or_member_epoch=self.epoch,
            member_id=self.member_id,
            topics=[OffsetCommitRequestTopic(name=stage.topic, partitions=[wanted])],
        )
        answer = self.connection.ask(request, OffsetCommitResponse, version=9)
        error = answer.topics[0].partitions[0].error_code
        if error == ErrorCode.NONE:
            stage.history.committed(partition, offset)
        else:
            self.expect(
                error,
                ErrorCode.REBALANCE_IN_PROGRESS,
                ErrorCode.ILLEGAL_GENERATION,
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.STALE_MEMBER_EPOCH,
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            )

    def expect(self, error: int, *expected: ErrorCode) -> None:
        assert error in expected, f"unexpected {ErrorCode(error).name}"


class ClassicMember(RawMember):
    """JoinGroup, SyncGroup, Heartbeat; the leader deals partitions out like cards."""

    def live(self) -> None:
        if self.epoch < 0:
            self._join()
            return
        request = HeartbeatRequest(
            group_id=self.stage.group_id, generation_id=self.epoch, member_id=self.member_id
        )
        error = self.connection.ask(request, HeartbeatResponse, version=4).error_code
        if error == ErrorCode.NONE:
            self.commit()
        elif error == ErrorCode.UNKNOWN_MEMBER_ID:
            self.forget()
        elif error != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            self.expect(error, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION)
            self.commit()  # as clients do before they let their partitions go
            self.epoch, self.owned = -1, frozenset()

    def _join(self) -> None:
        request = JoinGroupRequest(
            group_id=self.stage.group_id,
            session_timeout_ms=self.stage.session_timeout_ms,
            rebalance_timeout_ms=5_000,
            member_id=self.member_id,
            protocol_type="cards",
            protocols=[JoinGroupRequestProtocol(name="dealt", metadata=b"")],
        )
        answer = self.connection.ask(request, JoinGroupResponse, version=9)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
        elif answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.forget()
        elif answer.error_code == ErrorCode.NONE:
            self.member_id = answer.member_id
            self._sync(answer)
        else:
            self.expect(
                answer.error_code,
                ErrorCode.REBALANCE_IN_PROGRESS,
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            )

    def _sync(self, joined: JoinGroupResponse) -> None:
        members = sorted(member.member_id for member in joined.members)
        dealt = {
            member: [n for n in range(self.stage.partitions) if n % len(members) == place]
            for place, member in enumerate(members)
        }
        request = SyncGroupRequest(
            group_id=self.stage.group_id,
            generation_id=joined.generation_id,
            member_id=self.member_id,
            protocol_type="cards",
            protocol_name="dealt",
            assignments=[
                SyncGroupRequestAssignment(member_id=member, assignment=json.dumps(cards).encode())
                for member, cards in dealt.items()
            ],
        )
        answer = self.connection.ask(request, SyncGroupResponse, version=5)
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.forget()
        elif answer.error_code == ErrorCode.NONE:
            self.epoch = joined.generation_id
            self.owned = frozenset(json.loads(answer.assignment))
            self.stage.history.assigned(self.member_id, self.epoch, self.owned)
        else:
            self.expect(
                answer.error_code,
                ErrorCode.REBALANCE_IN_PROGRESS,
                ErrorCode.ILLEGAL_GENERATION,
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            )

    def leave(self) -> None:
        if self.member_id:
            members = [MemberIdentity(member_id=self.member_id)]
            request = LeaveGroupRequest(group_id=self.stage.group_id, members=members)
            self.connection.ask(request, LeaveGroupResponse, version=5)


class ConsumerMember(RawMember):
    """ConsumerGroupHeartbeat (KIP-848): what was revoked is given up with the next beat."""

    _changed = False

    def live(self) -> None:
        joining = self.epoch < 0
        if joining:
            self.member_id = self.member_id or str(uuid4())
            self.epoch = 0
        sent_at = time.monotonic()
        # What we own is told when it has changed, and now and then without need.
        answer = self._beat(full=joining or self._changed or self._dice.random() < 0.2)
        if answer.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
            self._give_up(self.owned)
            self.epoch = -1
            return
        if answer.error_code != ErrorCode.NONE:
            self.expect(answer.error_code, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            self.epoch = -1 if joining else self.epoch
            return
        self.epoch = answer.member_epoch
        self._changed = answer.assignment is not None
        if answer.assignment is not None:
            topics = answer.assignment.topic_partitions
            given = frozenset(number for topic in topics for number in topic.partitions)
            revoked, self.owned = self.owned - given, given
            self._give_up(revoked)
        self._hold(sent_at)
        self.commit()

    def _beat(self, *, full: bool, epoch: int | None = None) -> ConsumerGroupHeartbeatResponse:
        owned = RequestTopicPartitions(topic_id=self.stage.topic_id, partitions=sorted(self.owned))
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.stage.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch if epoch is None else epoch,
        )
        if full:
            request.rebalance_timeout_ms = 5_000
            request.subscribed_topic_names = [self.stage.topic]
            request.topic_partitions = [owned] if self.owned else []
        return self.connection.ask(request, ConsumerGroupHeartbeatResponse, version=1)

    def _hold(self, since: float) -> None:
        ends_at = since + self.stage.session_timeout_ms / 1000
        self.stage.history.held(
            self.member_id, self.owned, now=time.monotonic(), session_ends_at=ends_at
        )

    def _give_up(self, partitions: frozenset[int]) -> None:
        self.stage.history.given_up(self.member_id, partitions)
        self.owned -= partitions

    def leave(self) -> None:
        if self.epoch > 0:
            self._give_up(self.owned)
            self._beat(full=False, epoch=-1)
