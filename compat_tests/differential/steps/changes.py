"""What becomes of readers and writers when a topic changes, goes, or comes again."""

from typing import cast

from compat_tests.differential.run import Run
from compat_tests.differential.steps.configs import SET, TOPIC, alter, wait_for_config
from compat_tests.differential.steps.offsets import LATEST, list_offset
from compat_tests.differential.steps.produce import NEWEST, init, produce_to
from compat_tests.differential.steps.reading import (
    BY_NAME,
    fetch_from,
    fetch_request,
    topic_to_fetch,
)
from kbroker.model import Uuid
from kbroker.wire.messages.delete_topics import DeleteTopicsRequest
from kbroker.wire.messages.fetch import FetchResponse
from kbroker.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

_BY_ID = 18


def altered_topics(run: Run) -> None:
    run.create("changing")
    produce_to(run, "produce before any change", "changing", run.batch(b"v" * 300, key=None))
    _change(run, "max.message.bytes", "200")
    produce_to(run, "produce above the new limit", "changing", run.batch(b"v" * 300))
    produce_to(run, "produce below the new limit", "changing", run.batch(b"v" * 50))
    _change(run, "message.timestamp.type", "LogAppendTime")
    produce_to(run, "produce to what is now log append time", "changing", run.batch(b"v"))
    _change(run, "cleanup.policy", "compact")
    keyless = run.batch(b"v", key=None)
    produce_to(run, "produce keyless to what is now compacted", "changing", keyless)
    _change(run, "min.insync.replicas", "2")
    produce_to(run, "produce with too few replicas", "changing", run.batch(b"v"))
    produce_to(run, "produce with too few replicas, acks=1", "changing", run.batch(b"v"), acks=1)
    fetch_from(run, "fetch after all changes", "changing", 0)


def _change(run: Run, name: str, value: str) -> None:
    alter(run, f"change {name}", TOPIC, "changing", (name, SET, value))
    wait_for_config(run, "changing", name, value)


def deleted_topics(run: Run) -> None:
    topic_id = run.create("leaving")
    producer = init(run, "a producer to what leaves")
    batch = run.batch(b"a", producer=(producer, 0, 0))
    produce_to(run, "produce to what will leave", "leaving", batch)
    full = fetch_request([topic_to_fetch("leaving", 0)])
    full.session_epoch = 0
    session = cast(FetchResponse, run.ask("a session of what will leave", full, BY_NAME)).session_id
    request = DeleteTopicsRequest(topic_names=["leaving"], timeout_ms=5000)
    run.ask("delete what leaves", request, 5)
    run.wait_for_end("leaving")
    produce_to(run, "produce to what left", "leaving", batch)
    produce_to(run, "produce to what left by id", "", batch, version=NEWEST, topic_id=topic_id)
    fetch_from(run, "fetch what left", "leaving", 0)
    by_id = fetch_request([topic_to_fetch("", 0, topic_id=topic_id)])
    run.ask("fetch what left by id", by_id, _BY_ID)
    list_offset(run, "offset of what left", LATEST, topic="leaving")
    asked = [MetadataRequestTopic(name=None, topic_id=Uuid(topic_id))]
    run.ask("metadata of what left by id", MetadataRequest(topics=asked), 13)
    more = fetch_request([])
    more.session_id, more.session_epoch = session, 1
    run.ask("the session of what left", more, BY_NAME)
    run.create("leaving")
    produce_to(run, "produce to what came again", "leaving", run.batch(b"new"))
    next_batch = run.batch(b"b", producer=(producer, 0, 1))
    produce_to(run, "produce on to what came again", "leaving", next_batch)
    run.ask("fetch what came again by its old id", by_id, _BY_ID)
    fetch_from(run, "fetch what came again", "leaving", 0)
