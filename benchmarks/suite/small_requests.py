"""Small requests: sessions of fetches, offsets, metadata; and what members of groups send."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from benchmarks.measuring import frames
from benchmarks.measuring.figures import (
    CPU_PER_REQUEST,
    P50,
    P99,
    P999,
    REQUESTS_PER_S,
    RESIDENT,
    Figures,
    Goal,
)
from benchmarks.measuring.raw_load import Plan, Result, run_raw
from benchmarks.measuring.side import RunningBroker
from benchmarks.measuring.topics import Topic, new_topic
from benchmarks.suite.crowd import Crowd
from benchmarks.suite.produce import RUN_S
from benchmarks.suite.workload import Run, Workload, on_shared
from kbroker.client.connection import Connection
from kbroker.wire.messages.fetch import FetchResponse
from kbroker.wire.messages.heartbeat import HeartbeatResponse
from kbroker.wire.messages.list_offsets import ListOffsetsResponse
from kbroker.wire.messages.metadata import MetadataResponse
from kbroker.wire.messages.offset_commit import OffsetCommitResponse

GOALS = {REQUESTS_PER_S: Goal(1.0), CPU_PER_REQUEST: Goal(1.0)}
_GROUP_GOALS = {
    name: Goal(1.0) for name in ("heartbeats/s", "CPU us/heartbeat", "commits/s", "CPU us/commit")
}

_SESSIONS = 10
_MEMBERS = 1000
_COMMITTED_PARTITIONS = 4


def figures_of(broker: RunningBroker, result: Result) -> Figures:
    """The usual ones for requests that carry no records."""
    return {
        REQUESTS_PER_S: result.per_s,
        CPU_PER_REQUEST: result.cpu_us,
        P50: result.p50_ms,
        P99: result.p99_ms,
        P999: result.p999_ms,
        RESIDENT: broker.resident_mb(),
    }


def _fetch_sessions(broker: RunningBroker, scale: float) -> Figures:
    """Readers of a thousand idle partitions each, who ask again and again what is new."""
    with new_topic(broker, 1000) as topic, ExitStack() as stack:
        sessions = []
        for _ in range(_SESSIONS):
            host, port = broker.bootstrap.split(":")
            connection = stack.enter_context(Connection(host, int(port), "bench"))
            sessions.append(_open_session(connection, topic))
        plan = Plan(
            connections=_SESSIONS,
            in_flight=1,
            seconds=max(0.3, RUN_S * scale),
            own_frames=True,
            counter_at=frames.session_epoch_position(),
            counter=1,
        )
        asking = [frames.fetch(topic.topic_id(), {}, session_id=each) for each in sessions]
        result = run_raw(broker, plan, asking)
        answer = frames.answer(FetchResponse, frames.FETCH_VERSION, result.last_answer)
        frames.refuse_errors([answer.error_code])
        assert not answer.responses, "idle partitions are in the answer"
        return figures_of(broker, result)


def _open_session(connection: Connection, topic: Topic) -> int:
    """A full fetch of all partitions, which begins a session."""
    offsets = dict.fromkeys(range(topic.partitions), 0)
    connection.send_raw(frames.fetch(topic.topic_id(), offsets, session_epoch=0))
    body = connection.receive_frame()
    answer = frames.answer(FetchResponse, frames.FETCH_VERSION, body)
    frames.refuse_errors([answer.error_code])
    assert answer.session_id, "no session was opened"
    return answer.session_id


def ask_offsets(broker: RunningBroker, partitions: Mapping[str, int], scale: float) -> Figures:
    """The ends of all partitions of some topics, in each request."""
    result = run_raw(broker, _questions(scale), [frames.list_offsets(partitions)])
    # A partition takes more than 20 bytes.
    assert result.smallest > sum(partitions.values()) * 20, "partitions are missing in the answer"
    if result.last_answer:
        answer = frames.answer(ListOffsetsResponse, frames.LIST_OFFSETS_VERSION, result.last_answer)
        frames.refuse_errors([each.error_code for each in answer.topics[0].partitions])
    return figures_of(broker, result)


def ask_metadata(
    broker: RunningBroker, topic: str | None, partitions: int, scale: float
) -> Figures:
    """Metadata of one topic, or of all."""
    result = run_raw(broker, _questions(scale), [frames.metadata(topic)])
    # A partition takes more than 20 bytes.
    assert result.smallest > partitions * 20, "partitions are missing in the answer"
    if result.last_answer:
        answer = frames.answer(MetadataResponse, frames.METADATA_VERSION, result.last_answer)
        frames.refuse_errors([each.error_code for each in answer.topics])
    return figures_of(broker, result)


def _questions(scale: float) -> Plan:
    return Plan(connections=4, in_flight=1, seconds=max(0.3, RUN_S * scale))


def _of_thousand(run: Callable[[RunningBroker, Topic, float], Figures]) -> Run:
    def on_topic(broker: RunningBroker, scale: float) -> Figures:
        with new_topic(broker, 1000) as topic:
            return run(broker, topic, scale)

    return on_shared(on_topic)


def _crowd(broker: RunningBroker, groups: int, scale: float) -> Figures:
    """Members who all have one heartbeat under way, and then one commit."""
    name = f"crowd-{groups}-{time.monotonic_ns()}"
    plan = Plan(connections=_MEMBERS, in_flight=1, seconds=max(0.3, RUN_S * scale), own_frames=True)
    with (
        new_topic(broker, _COMMITTED_PARTITIONS) as topic,
        Crowd(broker.bootstrap, members=_MEMBERS, groups=groups, name=name) as crowd,
    ):
        joined_s = crowd.join()
        beats = run_raw(broker, plan, crowd.heartbeats())
        commits = run_raw(broker, plan, crowd.commits(topic.name, topic.partitions))
    beaten = frames.answer(HeartbeatResponse, Crowd.HEARTBEAT, beats.last_answer)
    committed = frames.answer(OffsetCommitResponse, Crowd.COMMIT, commits.last_answer)
    frames.refuse_errors([beaten.error_code])
    frames.refuse_errors([each.error_code for each in committed.topics[0].partitions])
    return {
        "heartbeats/s": beats.per_s,
        "CPU us/heartbeat": beats.cpu_us,
        "heartbeat p99 ms": beats.p99_ms,
        "commits/s": commits.per_s,
        "CPU us/commit": commits.cpu_us,
        "commit p99 ms": commits.p99_ms,
        "seconds to join": joined_s,
        RESIDENT: broker.resident_mb(),
    }


def _groups(groups: int, *, quick: bool = False) -> Workload:
    def run(broker: RunningBroker, scale: float) -> Figures:
        return _crowd(broker, groups, scale)

    title = f"raw: {_MEMBERS:,} members in {groups:,} group{'s' if groups > 1 else ''}"
    return Workload("groups", title, on_shared(run), _GROUP_GOALS, quick=quick, rounds=2)


WORKLOADS = [
    Workload(
        "requests", "raw: fetch sessions, 10 readers of 1,000 idle partitions",
        on_shared(_fetch_sessions), GOALS, quick=True,
    ),
    Workload(
        "requests", "raw: ListOffsets, 1,000 partitions",
        _of_thousand(lambda b, topic, scale: ask_offsets(b, {topic.name: 1000}, scale)), GOALS,
        on_kfake=True,
    ),
    Workload(
        "requests", "raw: Metadata, 1,000 partitions",
        _of_thousand(lambda b, topic, scale: ask_metadata(b, topic.name, 1000, scale)), GOALS,
        on_kfake=True,
    ),
    _groups(1, quick=True),
    _groups(_MEMBERS),
]  # fmt: skip
