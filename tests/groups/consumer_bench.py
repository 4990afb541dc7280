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
from kbroker.groups.group_records import decode_record, encode_record
from kbroker.groups.moment import Moment
from kbroker.groups.settings import GroupSettings
from kbroker.machine import Ticket
from kbroker.model import Uuid
from kbroker.wire import Message
from kbroker.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue

GROUP = "readers"

# Most tests do not want to wait for anything: neither for more members nor for the next target.
AT_ONCE = GroupSettings(initial_rebalance_delay_ms=0, consumer_assignment_interval_ms=0)

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
    settings: GroupSettings = AT_ONCE
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
