"""The offsets that groups committed: commit, fetch, delete, expire.

Who may do what is decided by the shard, which knows the groups; this is the store and the
answers. It changes only by its ``replay`` methods, so the same records always give the same offsets
(G9). Offsets of open transactions wait in pending_offsets.

Of two commits of a partition the one that was written later counts, whatever their transactions:
compaction keeps the last record of a key, so that another order would not survive it.

An offset is kept while its group has members or rebalances (G3). After that it goes when
offsets.retention.minutes have passed since the group became empty, or since the commit if the
group never had members or nobody in it subscribes to the topic any more (KIP-211).
"""

from collections.abc import Callable, Collection, Iterator

from kbroker.groups.committed_offset import CommittedOffset, OffsetPlace
from kbroker.groups.group_records import (
    EXPIRING_OFFSET_COMMIT_VERSION,
    OFFSET_COMMIT_VERSION,
    GroupRecord,
    tombstone,
)
from kbroker.groups.pending_offsets import PendingOffsets
from kbroker.model import Uuid
from kbroker.wire import ErrorCode
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kbroker.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kbroker.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kbroker.wire.messages.txn_offset_commit import TxnOffsetCommitRequestPartition

NO_OFFSET = -1
"""What a fetch answers where nothing was committed."""

DEFAULT_RETENTION = -1
"""What a client sends that leaves the retention to the broker (OffsetCommit 2-4)."""


class OffsetStore:
    """Offsets by group, topic and partition."""

    def __init__(self) -> None:
        self._offsets: dict[str, dict[str, dict[int, CommittedOffset]]] = {}
        self._pending = PendingOffsets()
        self._written = 0

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """The offset, or None if there is none."""
        return self._offsets.get(group_id, {}).get(topic, {}).get(partition)

    def of_group(self, group_id: str) -> Iterator[tuple[str, int, CommittedOffset]]:
        """Every topic and partition that a group committed, with the offset."""
        for topic, partitions in self._offsets.get(group_id, {}).items():
            for partition, committed in partitions.items():
                yield topic, partition, committed

    def group_ids(self) -> list[str]:
        """The groups that committed something, if only in a transaction that is open."""
        return [*self._offsets, *self._pending.group_ids()]

    def is_pending(self, group_id: str) -> bool:
        """Whether a group will have offsets when a transaction ends."""
        return bool(self._pending.of_group(group_id))

    # --- committing --------------------------------------------------------------

    def commit(
        self, request: OffsetCommitRequest, *, now_ms: int, metadata_max_bytes: int
    ) -> tuple[list[GroupRecord], OffsetCommitResponse]:
        """The records of a commit that was allowed, and its answer."""
        records: list[GroupRecord] = []
        topics = []
        for topic in request.topics:
            results = []
            for each in topic.partitions:
                error = ErrorCode.NONE
                if len(each.committed_metadata or "") > metadata_max_bytes:
                    error = ErrorCode.OFFSET_METADATA_TOO_LARGE
                else:
                    key = OffsetCommitKey(
                        group=request.group_id, topic=topic.name, partition=each.partition_index
                    )
                    retention_ms = request.retention_time_ms
                    records.append(commit_record(key, each, topic.topic_id, retention_ms, now_ms))
                results.append(
                    OffsetCommitResponsePartition(
                        partition_index=each.partition_index, error_code=error
                    )
                )
            topics.append(
                OffsetCommitResponseTopic(
                    name=topic.name, topic_id=topic.topic_id, partitions=results
                )
            )
        return records, OffsetCommitResponse(topics=topics)

    # --- fetching ----------------------------------------------------------------

    def fetch(
        self, request: OffsetFetchRequestGroup, *, require_stable: bool
    ) -> OffsetFetchResponseGroup:
        """What was committed for the partitions that are asked for, or for all (null)."""
        group_id = request.group_id
        topics = []
        if request.topics is None:
            for name, partitions in self._offsets.get(group_id, {}).items():
                answers = [
                    self._fetched(group_id, name, partition, committed, require_stable)
                    for partition, committed in partitions.items()
                ]
                topics.append(OffsetFetchResponseTopics(name=name, partitions=answers))
        else:
            for topic in request.topics:
                answers = []
                for partition in topic.partition_indexes:
                    found = self.get(group_id, topic.name, partition)
                    if found is not None and not found.is_of(topic.topic_id):
                        found = None
                    answers.append(
                        self._fetched(group_id, topic.name, partition, found, require_stable)
                    )
                topics.append(
                    OffsetFetchResponseTopics(
                        name=topic.name, topic_id=topic.topic_id, partitions=answers
                    )
                )
        return OffsetFetchResponseGroup(group_id=group_id, topics=topics)

    def _fetched(
        self,
        group_id: str,
        topic: str,
        partition: int,
        committed: CommittedOffset | None,
        require_stable: bool,
    ) -> OffsetFetchResponsePartitions:
        if require_stable and OffsetPlace(group_id, topic, partition) in self._pending:
            error = ErrorCode.UNSTABLE_OFFSET_COMMIT  # ask again when the transaction ended (T13)
        elif committed is None:
            error = ErrorCode.NONE
        else:
            return OffsetFetchResponsePartitions(
                partition_index=partition,
                committed_offset=committed.offset,
                committed_leader_epoch=committed.leader_epoch,
                metadata=committed.metadata,
            )
        return OffsetFetchResponsePartitions(
            partition_index=partition, committed_offset=NO_OFFSET, metadata="", error_code=error
        )

    # --- deleting ----------------------------------------------------------------

    def delete(
        self, request: OffsetDeleteRequest, is_subscribed: Callable[[str], bool]
    ) -> tuple[list[GroupRecord], OffsetDeleteResponse]:
        """The tombstones of a delete that was allowed, and its answer; what is in use stays."""
        records: list[GroupRecord] = []
        topics = []
        for topic in request.topics:
            error = ErrorCode.NONE
            if is_subscribed(topic.name):
                error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            else:
                records += [
                    _tombstone(request.group_id, topic.name, each.partition_index)
                    for each in topic.partitions
                    if self._is_known(request.group_id, topic.name, each.partition_index)
                ]
            topics.append(
                OffsetDeleteResponseTopic(
                    name=topic.name,
                    partitions=[
                        OffsetDeleteResponsePartition(
                            partition_index=each.partition_index, error_code=error
                        )
                        for each in topic.partitions
                    ],
                )
            )
        return records, OffsetDeleteResponse(topics=topics)

    def _is_known(self, group_id: str, topic: str, partition: int) -> bool:
        is_pending = OffsetPlace(group_id, topic, partition) in self._pending
        return is_pending or self.get(group_id, topic, partition) is not None

    def tombstones(self, group_id: str) -> list[GroupRecord]:
        """What takes away every offset of a group, also those of open transactions."""
        known = {OffsetPlace(group_id, topic, part) for topic, part, _ in self.of_group(group_id)}
        known.update(self._pending.of_group(group_id))
        return [_tombstone(*place) for place in sorted(known)]

    def tombstones_of_topics(self, topics: Collection[str]) -> list[GroupRecord]:
        """What takes away the offsets of topics that were deleted."""
        known = {
            OffsetPlace(group_id, topic, partition)
            for group_id in self._offsets
            for topic, partition, _ in self.of_group(group_id)
        }
        known.update(self._pending)
        return [_tombstone(*place) for place in sorted(known) if place.topic in topics]

    def expired(
        self,
        group_id: str,
        kept_since: Callable[[str, CommittedOffset], int | None],
        *,
        now_ms: int,
        retention_ms: int,
    ) -> list[GroupRecord]:
        """The tombstones of offsets that nobody needs any more.

        ``kept_since`` tells for a topic and an offset the moment from which its retention
        counts, or None if it may not go at all.
        """
        records = []
        for topic, partition, committed in self.of_group(group_id):
            since_ms = kept_since(topic, committed)
            if since_ms is None or OffsetPlace(group_id, topic, partition) in self._pending:
                continue
            end_ms = since_ms + retention_ms
            if committed.expire_timestamp_ms is not None:
                end_ms = committed.expire_timestamp_ms
            if now_ms >= end_ms:
                records.append(_tombstone(group_id, topic, partition))
        return records

    # --- what is durable ---------------------------------------------------------

    def replay(self, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        """Take over a commit from the log, or a tombstone (None)."""
        place = OffsetPlace(key.group, key.topic, key.partition)
        if value is not None:
            self._put(place, self._committed(value))
            return
        self._pending.drop(place)
        topics = self._offsets.get(key.group, {})
        partitions = topics.get(key.topic, {})
        partitions.pop(key.partition, None)
        if not partitions:
            topics.pop(key.topic, None)
        if not topics:
            self._offsets.pop(key.group, None)

    def replay_pending(
        self, key: OffsetCommitKey, value: OffsetCommitValue, producer_id: int
    ) -> None:
        """Take over a commit that counts when the transaction of its producer is committed."""
        place = OffsetPlace(key.group, key.topic, key.partition)
        self._pending.add(producer_id, place, self._committed(value))

    def replay_marker(self, producer_id: int, committed: bool) -> None:
        """The transaction of a producer ended; what was written after it stays as it is."""
        for place, ended in self._pending.end(producer_id).items():
            known = self.get(*place)
            if committed and (known is None or known.written < ended.written):
                self._put(place, ended)

    def _put(self, place: OffsetPlace, committed: CommittedOffset) -> None:
        topics = self._offsets.setdefault(place.group_id, {})
        topics.setdefault(place.topic, {})[place.partition] = committed

    def _committed(self, value: OffsetCommitValue) -> CommittedOffset:
        self._written += 1
        expires_ms = value.expire_timestamp
        return CommittedOffset(
            offset=value.offset,
            leader_epoch=value.leader_epoch,
            metadata=value.metadata,
            commit_timestamp_ms=value.commit_timestamp,
            expire_timestamp_ms=None if expires_ms == -1 else expires_ms,
            topic_id=value.topic_id,
            written=self._written,
        )


def commit_refused(request: OffsetCommitRequest, error: ErrorCode) -> OffsetCommitResponse:
    """The answer to a commit of which nothing was taken."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=each.partition_index, error_code=error
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def commit_record(
    key: OffsetCommitKey,
    partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition,
    topic_id: Uuid,
    retention_ms: int,
    now_ms: int,
) -> GroupRecord:
    """The record of one commit; ``retention_ms`` is `DEFAULT_RETENTION` in all new requests."""
    value = OffsetCommitValue(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=partition.committed_metadata or "",
        commit_timestamp=now_ms,
        topic_id=topic_id,
    )
    if retention_ms == DEFAULT_RETENTION:
        return GroupRecord(key, value, OFFSET_COMMIT_VERSION)
    value.expire_timestamp = now_ms + retention_ms
    return GroupRecord(key, value, EXPIRING_OFFSET_COMMIT_VERSION)


def _tombstone(group_id: str, topic: str, partition: int) -> GroupRecord:
    return tombstone(OffsetCommitKey(group=group_id, topic=topic, partition=partition))
