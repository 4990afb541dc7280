"""What a group has committed, how far it lags behind, and how to move it within the logs.

Offsets are moved from outside, as a consumer that is no member does: with no generation and no
member id. Coordinators take such a commit only while the group has no members, because those would
not notice. Nothing is moved beyond the ends of a log: consumers would jump to wherever
``auto.offset.reset`` sends them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kbroker.client.cluster import Cluster, Coordinator
from kbroker.client.consuming import Start
from kbroker.client.errors import ClientError, raise_refusal
from kbroker.client.groups import DescribedGroup, GroupMember, at_coordinator, the_only
from kbroker.client.topics import EARLIEST, LATEST, list_offsets
from kbroker.model import TopicPartition
from kbroker.wire import ErrorCode
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kbroker.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)

# The first version of OffsetFetch that asks about several groups (KIP-709).
_FETCH_SEVERAL = 8
# The last versions of both requests that name topics; later ones know them by id (KIP-848).
_LAST_VERSION_WITH_NAMES = 9
# The generation of those who are no members, and the offset of what was never committed.
_NO_GENERATION = -1
_NO_OFFSET = -1


class PartitionLag(NamedTuple):
    """Where a group stands in a partition; None is what is not there or cannot be told."""

    partition: TopicPartition
    committed: int | None
    log_end: int | None
    owner: GroupMember | None

    @property
    def lag(self) -> int | None:
        """How many offsets are still to be read."""
        if self.committed is None or self.log_end is None:
            return None
        return self.log_end - self.committed


class Shift(NamedTuple):
    """Back or forth from the committed offset."""

    by: int


class Move(NamedTuple):
    """A partition with the committed offset, if there is one, and the one to be committed."""

    partition: TopicPartition
    old: int | None
    new: int


def committed_offsets(cluster: Cluster, group_id: str) -> dict[TopicPartition, int]:
    """All that a group has committed; nothing if there is no such group."""

    def ask(coordinator: Coordinator) -> dict[TopicPartition, int]:
        connection = coordinator.connection
        version = connection.version_of(OffsetFetchRequest, newest=_LAST_VERSION_WITH_NAMES)
        if version < _FETCH_SEVERAL:
            request = OffsetFetchRequest(group_id=group_id, topics=None)
            response = connection.ask(request, OffsetFetchResponse, version=version)
            raise_refusal(response.error_code, subject=group_id)
            return _offsets(
                (TopicPartition(topic.name, p.partition_index), p.committed_offset, p.error_code)
                for topic in response.topics
                for p in topic.partitions
            )
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)]
        )
        response = connection.ask(request, OffsetFetchResponse, version=version)
        group = the_only(response.groups, connection)
        raise_refusal(group.error_code, subject=group_id)
        return _offsets(
            (TopicPartition(topic.name, p.partition_index), p.committed_offset, p.error_code)
            for topic in group.topics
            for p in topic.partitions
        )

    return at_coordinator(cluster, group_id, ask)


def commit_offsets(cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Commit for a group without members; a group that is not there comes into being.

    A refusal is about the first partition that was refused; others may have been committed.
    """
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for partition, offset in offsets.items():
        topics.setdefault(partition.topic, []).append(
            OffsetCommitRequestPartition(
                partition_index=partition.partition, committed_offset=offset
            )
        )
    request = OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=_NO_GENERATION,
        topics=[
            OffsetCommitRequestTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )

    def ask(coordinator: Coordinator) -> None:
        response = coordinator.connection.ask(
            request, OffsetCommitResponse, newest=_LAST_VERSION_WITH_NAMES
        )
        for topic in response.topics:
            for answer in topic.partitions:
                subject = f"{group_id}: {topic.name}-{answer.partition_index}"
                message = None
                if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
                    message = "the group has members, and takes offsets from nobody else"
                raise_refusal(answer.error_code, message, subject=subject)

    at_coordinator(cluster, group_id, ask)


def partition_lags(cluster: Cluster, group: DescribedGroup) -> list[PartitionLag]:
    """The partitions that a group has committed or its members own, sorted."""
    committed = committed_offsets(cluster, group.group_id)
    owners = {partition: member for member in group.members for partition in member.partitions}
    partitions = sorted(committed.keys() | owners.keys())
    ends = _log_ends(cluster, partitions)
    return [
        PartitionLag(each, committed.get(each), ends.get(each), owners.get(each))
        for each in partitions
    ]


def plan_moves(
    cluster: Cluster, group_id: str, partitions: Sequence[TopicPartition], target: Start | Shift
) -> list[Move]:
    """Where each partition would be after a reset to ``target``; commits nothing.

    An offset before the log becomes its beginning, one behind it its end, and so does a time after
    the last record. ClientError if there is nothing to shift from.
    """
    committed = committed_offsets(cluster, group_id)
    starts = _at(cluster, partitions, EARLIEST)
    ends = _at(cluster, partitions, LATEST)
    if isinstance(target, Shift):
        wanted = {each: _shifted(group_id, each, committed, target.by) for each in partitions}
    elif target.offset is not None:
        wanted = dict.fromkeys(partitions, target.offset)
    else:
        found = _at(cluster, partitions, target.timestamp_ms)
        wanted = {
            each: ends[each] if offset == _NO_OFFSET else offset for each, offset in found.items()
        }
    return [
        Move(each, committed.get(each), min(max(wanted[each], starts[each]), ends[each]))
        for each in partitions
    ]


def _offsets(answers: Iterable[tuple[TopicPartition, int, int]]) -> dict[TopicPartition, int]:
    """The offsets that were committed, from partitions, offsets and error codes."""
    found = {}
    for partition, offset, error_code in answers:
        raise_refusal(error_code, subject=str(partition))
        if offset != _NO_OFFSET:
            found[partition] = offset
    return found


def _shifted(
    group_id: str, partition: TopicPartition, committed: Mapping[TopicPartition, int], by: int
) -> int:
    if partition not in committed:
        raise ClientError(f"{group_id}: {partition} has no committed offset to shift")
    return committed[partition] + by


def _at(
    cluster: Cluster, partitions: Iterable[TopicPartition], timestamp: int
) -> dict[TopicPartition, int]:
    """What ListOffsets finds for ``timestamp`` in all partitions."""
    return {
        TopicPartition(topic, number): offset
        for topic, numbers in _by_topic(partitions).items()
        for number, offset in list_offsets(
            cluster, topic, dict.fromkeys(numbers, timestamp)
        ).items()
    }


def _log_ends(cluster: Cluster, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """The ends of the logs that have a leader who tells them; other logs are not waited for."""
    by_topic = _by_topic(partitions)
    if not by_topic:
        return {}
    led = {
        TopicPartition(topic.name or "", partition.partition_index)
        for topic in cluster.retry(lambda: cluster.metadata(list(by_topic))).topics
        for partition in topic.partitions
        if partition.leader_id >= 0
    }
    ends = {}
    for topic, numbers in by_topic.items():
        asked = [TopicPartition(topic, number) for number in numbers]
        try:
            ends.update(_at(cluster, led.intersection(asked), LATEST))
        except ClientError:
            continue
    return ends


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for partition in partitions:
        grouped.setdefault(partition.topic, []).append(partition.partition)
    return grouped
