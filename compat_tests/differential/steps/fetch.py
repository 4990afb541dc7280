"""Fetch: places, limits, sessions, epochs."""

from collections.abc import Sequence
from typing import cast

from compat_tests.differential.run import WAIT_MS, Run
from compat_tests.differential.steps.produce import produce_to
from compat_tests.differential.steps.reading import (
    BY_NAME,
    MEGABYTE,
    fetch_from,
    fetch_request,
    topic_to_fetch,
)
from kbroker.model import Uuid
from kbroker.records import Compression
from kbroker.wire.messages.fetch import (
    FetchPartition,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)

OLDEST = 4
NEWEST = 18


def fetch(run: Run) -> None:
    topic_id = run.create("read", partitions=2)
    run.create("read-empty")
    for number in range(4):
        batch = run.batch(b"a" * 100, b"b", b"c", at=number * 10_000)
        produce_to(run, f"batch {number} to read", "read", batch)
    for version in range(OLDEST, NEWEST + 1):
        topics = [topic_to_fetch("read", 0, topic_id=topic_id)]
        run.ask(f"fetch v{version}", fetch_request(topics), version)
    for offset in (1, 2, 3, 11, 12, 13, -1, -2, 2**62):
        fetch_from(run, f"fetch from offset {offset}", "read", offset)
    fetch_from(run, "fetch from offset 13 v4", "read", 13, version=OLDEST)
    fetch_from(run, "fetch from an empty partition", "read-empty", 0)
    fetch_from(run, "fetch from an unknown topic", "nowhere", 0)
    fetch_from(run, "fetch from an unknown topic v4", "nowhere", 0, version=OLDEST)
    fetch_from(run, "fetch from an unknown partition", "read", 0, index=5)
    fetch_from(run, "fetch from an invalid topic", "a b", 0)
    _ids(run, topic_id)
    _limits(run)
    _epochs(run, topic_id)
    run.ask("fetch nothing", fetch_request([]), BY_NAME)
    run.ask("fetch nothing v4", fetch_request([]), OLDEST)
    run.ask("fetch nothing by id", fetch_request([]), NEWEST)
    for level in (0, 1, 2, -1):
        request = fetch_request([topic_to_fetch("read", 0)])
        request.isolation_level = level
        run.ask(f"fetch with isolation level {level}", request, BY_NAME)
    twice = [topic_to_fetch("read", 0), topic_to_fetch("read", 3)]
    run.ask("fetch one partition twice", fetch_request(twice), BY_NAME)
    replica = fetch_request([topic_to_fetch("read", 0)])
    replica.replica_id = 7
    run.ask("fetch as broker 7", replica, BY_NAME)
    replica = fetch_request([topic_to_fetch("read", 0, topic_id=topic_id)])
    replica.replica_state = ReplicaState(replica_id=7, replica_epoch=1)
    run.ask("fetch as broker 7 by id", replica, NEWEST)
    run.create("read-zstd")
    packed = run.batch(b"a" * 500, compression=Compression.ZSTD)
    produce_to(run, "zstd to read", "read-zstd", packed)
    for version in (OLDEST, 9, 10):
        fetch_from(run, f"fetch zstd v{version}", "read-zstd", 0, version=version)
    for kind in ("stamped", "compacted", "idempotent", "written", "squeezed"):
        fetch_from(run, f"fetch what was produced to {kind}", kind, 0)


def _ids(run: Run, topic_id: bytes) -> None:
    unknown = Uuid(b"\x04" * 16)
    run.names.topics[unknown] = "<unknown id>"
    good, bad = topic_to_fetch("", 0, topic_id=topic_id), topic_to_fetch("", 0, topic_id=unknown)
    for version in (13, 16, NEWEST):
        run.ask(f"fetch an unknown id v{version}", fetch_request([bad]), version)
        run.ask(f"fetch a known and an unknown id v{version}", fetch_request([good, bad]), version)
    run.ask("fetch no id", fetch_request([topic_to_fetch("", 0)]), NEWEST)


def _limits(run: Run) -> None:
    topics = [topic_to_fetch("read", 0)]
    for most in (0, 1, 200, 400, -1):
        request = fetch_request(topics)
        request.max_bytes = most
        run.ask(f"fetch at most {most} bytes", request, BY_NAME)
    for most in (0, 1, 200, 400, -1):
        request = fetch_request([topic_to_fetch("read", 0, max_bytes=most)])
        run.ask(f"fetch at most {most} bytes of the partition", request, BY_NAME)
    produce_to(run, "a batch to partition 1 of read", "read", run.batch(b"other"), index=1)
    both = FetchTopic(
        topic="read",
        partitions=[
            FetchPartition(partition=1, fetch_offset=0, partition_max_bytes=1),
            FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1),
        ],
    )
    run.ask("fetch a byte each of two partitions", fetch_request([both]), BY_NAME)
    for kind, topics, wait_ms, min_bytes in (
        ("the end, without waiting", [topic_to_fetch("read", 12)], 0, 1),
        ("the end, waiting", [topic_to_fetch("read", 12)], WAIT_MS, 1),
        ("the end, waiting less than nothing", [topic_to_fetch("read", 12)], -1, 1),
        ("the end, waiting for no bytes", [topic_to_fetch("read", 12)], WAIT_MS, 0),
        ("the end, waiting for minus one byte", [topic_to_fetch("read", 12)], WAIT_MS, -1),
        (
            "the end and nowhere, waiting",
            [topic_to_fetch("read", 12), topic_to_fetch("nowhere", 0)],
            WAIT_MS,
            1,
        ),
        ("beyond the end, waiting", [topic_to_fetch("read", 13)], WAIT_MS, 1),
        ("the start, waiting for too much", [topic_to_fetch("read", 0)], WAIT_MS, 100_000),
        ("nothing, waiting", [], WAIT_MS, 1),
    ):
        request = fetch_request(topics)
        request.max_wait_ms, request.min_bytes = wait_ms, min_bytes
        run.ask(f"fetch from {kind}", request, BY_NAME, timed=True)


def _epochs(run: Run, topic_id: bytes) -> None:
    for epoch in (-2, 0, 1, 5):
        topic = topic_to_fetch("read", 0)
        topic.partitions[0].current_leader_epoch = epoch
        run.ask(f"fetch in leader epoch {epoch}", fetch_request([topic]), BY_NAME)
        topic = topic_to_fetch("read", 0, topic_id=topic_id)
        topic.partitions[0].current_leader_epoch = epoch
        run.ask(f"fetch in leader epoch {epoch} by id", fetch_request([topic]), NEWEST)
    for epoch, offset in ((0, 3), (0, 12), (0, 13), (1, 3), (5, 3), (-2, 3)):
        topic = topic_to_fetch("read", offset)
        topic.partitions[0].last_fetched_epoch = epoch
        run.ask(f"fetch {offset} after epoch {epoch}", fetch_request([topic]), BY_NAME)


class _Session:
    """A fetch session: what it is called there, and the version it speaks."""

    def __init__(self, run: Run, name: str, topic: FetchTopic, version: int) -> None:
        self._run = run
        self._version = version
        full = fetch_request([topic])
        full.session_epoch = 0
        self.session_id = cast(FetchResponse, run.ask(name, full, version)).session_id

    def ask(
        self,
        name: str,
        epoch: int,
        *topics: FetchTopic,
        forgotten: Sequence[ForgottenTopic] = (),
        session_id: int | None = None,
        version: int | None = None,
    ) -> None:
        request = fetch_request(list(topics))
        request.session_id = self.session_id if session_id is None else session_id
        request.session_epoch = epoch
        request.forgotten_topics_data = list(forgotten)
        self._run.ask(name, request, version or self._version)


def sessions(run: Run) -> None:
    """Incremental fetches (KIP-227)."""
    topic_id = run.create("session", partitions=3)
    produce_to(run, "a batch to session", "session", run.batch(b"a"))
    everything = FetchTopic(
        topic="session",
        topic_id=Uuid(topic_id),
        partitions=[
            FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=MEGABYTE)
            for index in range(3)
        ],
    )
    other_id = run.create("session-too")
    _session_by_name(run, _Session(run, "open a session", everything, BY_NAME))
    _session_by_id(run, _Session(run, "open a session by id", everything, NEWEST), other_id)


def _session_by_name(run: Run, session: _Session) -> None:
    ask = session.ask
    first = topic_to_fetch("session", 0)
    ask("session: nothing changed", 1)
    produce_to(run, "a batch to partition 1 of session", "session", run.batch(b"b"), index=1)
    ask("session: a batch arrived", 2)
    ask("session: an old epoch", 2)
    ask("session: an epoch to come", 9)
    moved = [topic_to_fetch("session", 1), topic_to_fetch("session", 1, index=1)]
    ask("session: on to offset 1", 3, *moved)
    ask("session: and wait there", 4)
    ask("session: add a topic", 5, topic_to_fetch("session-too", 0))
    ask("session: add an unknown topic", 6, topic_to_fetch("nowhere", 0))
    ask("session: the unknown topic stays", 7)
    forget = ForgottenTopic(topic="nowhere", partitions=[0])
    ask("session: forget the unknown topic", 8, forgotten=[forget])
    ask("session: it is forgotten", 9)
    all_of_it = [
        ForgottenTopic(topic="session", partitions=[0, 1, 2]),
        ForgottenTopic(topic="session-too", partitions=[0]),
    ]
    ask("session: forget everything", 10, forgotten=all_of_it)
    ask("session: nothing is left", 11)
    ask("session: unknown", 1, session_id=session.session_id ^ 0x55)
    ask("session: unknown, to be closed", -1, session_id=session.session_id ^ 0x55)
    ask("session: close and fetch", -1, first)
    ask("session: closed", 12)
    ask("no session", -1, first, session_id=0)
    ask("no session, but an epoch", 5, first, session_id=0)
    ask("a session of nothing", 0, session_id=0)


def _session_by_id(run: Run, session: _Session, other_id: bytes) -> None:
    ask = session.ask
    unknown = Uuid(b"\x05" * 16)
    run.names.topics[unknown] = "<unknown id>"
    ask("session by id: nothing changed", 1)
    ask("session by id: an unknown id", 2, topic_to_fetch("", 0, topic_id=unknown))
    ask("session by id: it stays", 3)
    ask("session by id: another topic", 4, topic_to_fetch("", 0, topic_id=other_id))
    ask("session by id, asked by name", 5, version=BY_NAME)
    named = topic_to_fetch("session", 0)
    ask("session by id, asked by name with a topic", 5, named, version=BY_NAME)
