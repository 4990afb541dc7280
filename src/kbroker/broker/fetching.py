"""Fetch: what a reader gets now, and how it waits for more.

A fetch is tried at once. It is answered if it found ``min_bytes``, an error, or need not wait; else
it waits until something it watches changes, or until its time is over, and is tried again. Watching
begins before anyone else runs, so no change is lost in between. No task waits: whoever changes a
partition wakes the connections of those who watch it, and these try again in their next turn.

High watermark, last stable offset, log start and records of one partition are read without an
await in between, so they are one snapshot (R21).
"""

from collections.abc import Callable, Iterable
from math import inf

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    FetchEntry,
    FetchSession,
    FetchSessions,
)
from kbroker.broker.partition import READ_COMMITTED, Partition
from kbroker.broker.partitions import Partitions
from kbroker.broker.refusals import REFUSED
from kbroker.broker.requests import Polled
from kbroker.machine import Deadlines
from kbroker.model import ZERO_UUID, FileSlice
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)

# From this version on requests name topics by id (KIP-516).
TOPIC_ID_VERSION = 13
_NO_DATA = b""


class Fetcher:
    """Answers Fetch requests of consumers."""

    def __init__(
        self, partitions: Partitions, sessions: FetchSessions, clock: Clock, *, max_bytes: int
    ) -> None:
        self._partitions = partitions
        self._sessions = sessions
        self._clock = clock
        self._max_bytes = max_bytes
        # Set at shutdown: what waits is answered as soon as it is touched.
        self.stopping = False
        # One task sleeps until the earliest of them.
        self._deadlines: Deadlines[_Fetch] = Deadlines()
        self._sleeps_until = inf
        self._sooner = trio.Event()

    async def run(self) -> None:
        """Wake the fetches whose time is over, until cancelled."""
        while True:
            earliest = self._deadlines.next_deadline()
            self._sleeps_until = inf if earliest is None else earliest
            with trio.move_on_at(self._sleeps_until):
                await self._sooner.wait()
            self._sooner = trio.Event()
            for fetch in self._deadlines.due(self._clock.now()):
                fetch.on_time()

    def wake_by(self, fetch: "_Fetch", deadline: float) -> None:
        """Call `on_time` of a fetch at ``deadline``."""
        self._deadlines.set(fetch, deadline)
        if deadline < self._sleeps_until:
            self._sooner.set()

    def forget(self, fetch: "_Fetch") -> None:
        """The fetch is over."""
        self._deadlines.cancel(fetch)

    def begin(
        self, request: FetchRequest, version: int, denied: frozenset[str] = frozenset()
    ) -> FetchResponse | Polled[FetchResponse]:
        """Answer now, or later; ``denied`` are topics that the client may not read."""
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if request.session_id:
                self._sessions.remove(request.session_id)
            return self._begin_full(request, version, denied)
        session = self._sessions.get(request.session_id)
        if session is None:
            return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.uses_topic_ids != (version >= TOPIC_ID_VERSION):
            return FetchResponse(error_code=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if session.epoch != request.session_epoch:
            return FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        return self._begin_incremental(request, session, denied)

    def _begin_full(
        self, request: FetchRequest, version: int, denied: frozenset[str]
    ) -> FetchResponse | Polled[FetchResponse]:
        entries = [
            FetchEntry(topic.topic, topic.topic_id, asked)
            for topic in request.topics
            for asked in topic.partitions
        ]
        if not entries:
            return FetchResponse()  # nothing can arrive, so there is nothing to wait for
        session = None
        if request.session_epoch == INITIAL_EPOCH:
            session = self._sessions.create(
                entries, uses_topic_ids=version >= TOPIC_ID_VERSION, now=self._clock.now()
            )
        if session is not None:
            for entry in entries:
                session.dirty[entry] = None
        return _Fetch(self, request, entries, session, denied, whole=True).begin()

    def _begin_incremental(
        self, request: FetchRequest, session: FetchSession, denied: frozenset[str]
    ) -> FetchResponse | Polled[FetchResponse]:
        for forgotten in request.forgotten_topics_data:
            for index in forgotten.partitions:
                session.forget((forgotten.topic, forgotten.topic_id, index))
        for topic in request.topics:
            for asked in topic.partitions:
                session.put(FetchEntry(topic.topic, topic.topic_id, asked))
        self._sessions.used(session, self._clock.now())
        session.next_epoch()
        if not session.entries:
            self._sessions.remove(session.session_id)
            return FetchResponse()
        return _Fetch(self, request, (), session, denied, whole=False).begin()

    def limit(self, asked_bytes: int) -> int:
        """How much one answer may hold."""
        return min(asked_bytes, self._max_bytes)

    def find(self, entry: FetchEntry) -> tuple[Partition | None, ErrorCode]:
        """The partition an entry means, or why there is none."""
        if entry.topic_id != ZERO_UUID or not entry.topic:
            return self._partitions.find_by_id(entry.topic_id, entry.index)
        return self._partitions.find(entry.topic, entry.index)

    def deadline(self, max_wait_ms: int) -> float:
        """When a fetch that may wait so long must be answered."""
        return self._clock.now() + max(0, max_wait_ms) / 1000


class _Fetch(Polled[FetchResponse]):
    """One fetch under way."""

    def __init__(
        self,
        fetcher: Fetcher,
        request: FetchRequest,
        entries: Iterable[FetchEntry],
        session: FetchSession | None,
        denied: frozenset[str],
        *,
        whole: bool,
    ) -> None:
        self._fetcher = fetcher
        self._entries = entries
        self._session = session
        self._denied = denied
        self._whole = whole  # answer with every entry, not only with those that have news
        self._max_bytes = fetcher.limit(request.max_bytes)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self._max_wait_ms = request.max_wait_ms
        self._committed_only = request.isolation_level == READ_COMMITTED
        self._is_over = False
        self._watched: set[Partition] = set()  # without a session, which watches by itself
        self._wake: Callable[[], None] | None = None  # while it waits
        self._found_bytes = 0
        self._held_back = False  # whether the entry just read has more than its share of bytes
        self._must_answer = False

    def begin(self) -> FetchResponse | Polled[FetchResponse]:
        """The first try."""
        news = self._look()
        if self._must_answer or self._max_wait_ms <= 0 or self._found_bytes >= self._min_bytes:
            return self._answer(news)
        return self

    def watch(self, wake: Callable[[], None]) -> None:
        """Wait from now on; nothing can have changed since the look, because nobody else ran."""
        self._wake = wake
        self._fetcher.wake_by(self, self._fetcher.deadline(self._max_wait_ms))
        if self._session is not None:
            self._session.waiting[self] = None
        else:
            self._watched = {
                entry.partition for entry in self._entries if entry.partition is not None
            }
            for partition in self._watched:
                partition.watchers[self] = None

    def touch(self, partition: Partition) -> None:  # noqa: ARG002 - any of them will do
        """Something that is fetched changed."""
        if self._wake is not None:
            self._wake()

    def on_time(self) -> None:
        """The time is over: answer with whatever there is."""
        self._is_over = True
        if self._wake is not None:
            self._wake()

    def poll(self) -> FetchResponse | None:
        """Look again, and answer if it is enough or the time is over."""
        news = self._look()
        if (
            self._is_over
            or self._fetcher.stopping
            or self._must_answer
            or self._found_bytes >= self._min_bytes
        ):
            self.close()
            return self._answer(news)
        return None

    def close(self) -> None:
        """Wait no more."""
        self._wake = None
        self._fetcher.forget(self)
        if self._session is not None:
            self._session.waiting.pop(self, None)
        else:
            for partition in self._watched:
                partition.watchers.pop(self, None)

    def _look(self) -> list[tuple[FetchEntry, PartitionData]]:
        """One try over all entries that may have something to tell."""
        self._found_bytes = 0
        session = self._session
        candidates = tuple(session.dirty) if session is not None else self._entries
        whole = self._whole
        news = []
        for entry in candidates:
            data = self._read(entry)
            changed = (
                data.high_watermark != entry.sent_high_watermark
                or data.log_start_offset != entry.sent_log_start_offset
            )
            tells = bool(data.records) or data.error_code or data.diverging_epoch is not None
            if whole or tells or changed:
                news.append((entry, data))
            elif session is not None and not self._held_back:
                session.dirty.pop(entry, None)
        return news

    def _read(self, entry: FetchEntry) -> PartitionData:
        """What one partition has for the reader."""
        partition, error = self._fetcher.find(entry)
        if self._session is not None:
            self._session.watch(entry, partition)
        else:
            entry.partition = partition
        if partition is None:
            return self._refusal(entry, error)
        if partition.topic_partition.topic in self._denied:
            return self._refusal(entry, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        asked = entry.asked
        stale = partition.check_leader_epoch(asked.current_leader_epoch)
        if stale is not None:
            data = self._refusal(entry, ErrorCode[stale])
            data.aborted_transactions = None
            if data.error_code == ErrorCode.FENCED_LEADER_EPOCH:
                # KIP-951: tell who leads. A client that is ahead of us knows it better.
                data.current_leader = LeaderIdAndEpoch(
                    leader_id=self._fetcher._partitions.node_id,
                    leader_epoch=partition.leader_epoch,
                )
            return data
        data = PartitionData(
            partition_index=entry.index,
            high_watermark=partition.high_watermark,
            last_stable_offset=partition.last_stable_offset,
            log_start_offset=partition.log.log_start_offset,
            aborted_transactions=None,
            records=_NO_DATA,
        )
        if asked.last_fetched_epoch >= 0 and self._diverges(entry, partition, data):
            return data
        self._read_records(entry, partition, data)
        return data

    def _read_records(self, entry: FetchEntry, partition: Partition, data: PartitionData) -> None:
        offset = entry.asked.fetch_offset
        up_to = data.last_stable_offset if self._committed_only else data.high_watermark
        left_bytes = self._max_bytes - self._found_bytes
        piece: FileSlice | None = None
        self._held_back = False
        try:
            if offset != up_to or offset < data.log_start_offset:
                piece = partition.read(
                    offset,
                    min(entry.asked.partition_max_bytes, max(0, left_bytes)),
                    up_to=up_to,
                    at_least_one_batch=self._found_bytes == 0,
                )
        except REFUSED as error:
            code = ErrorCode[error.kafka_error]
            data.error_code = code
            if code is ErrorCode.OFFSET_OUT_OF_RANGE:
                data.high_watermark = data.last_stable_offset = data.log_start_offset = -1
            self._must_answer = True
            return
        if piece is not None:
            data.records = piece
            self._found_bytes += piece.length
        else:
            self._held_back = offset < up_to
        if self._committed_only:
            self._tell_aborted(partition, offset, data)

    def _tell_aborted(self, partition: Partition, offset: int, data: PartitionData) -> None:
        """Name the aborted transactions; without them, no record may be seen."""
        aborted = []
        if isinstance(data.records, FileSlice):
            try:
                end_offset = partition.log.upper_bound_offset(data.records)
                aborted = partition.aborted_transactions(offset, end_offset)
            except REFUSED as error:
                data.error_code = ErrorCode[error.kafka_error]
                self._found_bytes -= data.records.length
                data.records = _NO_DATA
                self._must_answer = True
        data.aborted_transactions = [
            AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset)
            for one in aborted
        ]

    def _diverges(self, entry: FetchEntry, partition: Partition, data: PartitionData) -> bool:
        """Whether the reader's history left ours, which it must repair first (KIP-595)."""
        asked = entry.asked
        epoch, end_offset = partition.end_offset_for_epoch(asked.last_fetched_epoch)
        if epoch < 0:
            data.error_code = ErrorCode.OFFSET_OUT_OF_RANGE
            data.high_watermark = data.last_stable_offset = data.log_start_offset = -1
        elif epoch < asked.last_fetched_epoch or end_offset < asked.fetch_offset:
            data.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
        else:
            return False
        self._must_answer = True
        return True

    def _refusal(self, entry: FetchEntry, error: ErrorCode) -> PartitionData:
        self._must_answer = True
        return PartitionData(
            partition_index=entry.index, error_code=error, high_watermark=-1, records=_NO_DATA
        )

    def _answer(self, news: list[tuple[FetchEntry, PartitionData]]) -> FetchResponse:
        session = self._session
        topics: dict[tuple[str, bytes], FetchableTopicResponse] = {}
        for entry, data in news:
            topic = topics.get((entry.topic, entry.topic_id))
            if topic is None:
                topic = FetchableTopicResponse(topic=entry.topic, topic_id=entry.topic_id)
                topics[entry.topic, entry.topic_id] = topic
            topic.partitions.append(data)
            if session is not None:
                entry.sent_high_watermark = data.high_watermark
                entry.sent_log_start_offset = data.log_start_offset
        return FetchResponse(
            session_id=session.session_id if session is not None else 0,
            responses=list(topics.values()),
        )
