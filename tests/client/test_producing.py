"""Batches that are lost, refused and sent again."""

import pytest

from kbroker.client.errors import BrokerError
from kbroker.client.producing import Delivery, Producer
from kbroker.records import read_header
from kbroker.wire import ApiKey, ErrorCode
from kbroker.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from kbroker.wire.messages.init_producer_id import InitProducerIdResponse
from kbroker.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.client.scene import Scene, topic
from tests.client.scripted_broker import ScriptedBroker, Step, answer, raw

PRODUCE_VERSION = 7


def versions(*, producer_ids: bool = True) -> Step:
    newest = {3: 8, 0: PRODUCE_VERSION} | ({22: 1} if producer_ids else {})
    return answer(
        ApiVersionsResponse(
            api_keys=[ApiVersion(api_key=key, max_version=last) for key, last in newest.items()]
        )
    )


def written(code: int = 0, *, base_offset: int = 0) -> Step:
    part = PartitionProduceResponse(index=0, error_code=code, base_offset=base_offset)
    return answer(
        ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[part])])
    )


def batches_seen(broker: ScriptedBroker) -> list[bytes]:
    """The record batches of all Produce requests."""
    seen = []
    for (api_key, _), body in zip(broker.requests, broker.bodies, strict=True):
        if api_key == ApiKey.PRODUCE:
            request = ProduceRequest.decode(body, PRODUCE_VERSION)
            seen.append(bytes(request.topic_data[0].partition_data[0].records))
    return seen


@pytest.fixture
def scene() -> Scene:
    return Scene()


def opening(scene: Scene) -> tuple[Step, ...]:
    """What a producer asks before its first batch."""
    producer_id = answer(InitProducerIdResponse(producer_id=77, producer_epoch=3))
    return versions(), scene.metadata(topic(1)), producer_id


def test_a_batch_whose_answer_was_lost_is_sent_again_as_it_was(scene):
    again = (versions(), scene.metadata(), scene.metadata(topic(1)))
    script = (*opening(scene), raw(b""), *again, written(ErrorCode.DUPLICATE_SEQUENCE_NUMBER))
    with scene.play(*script) as broker, scene.cluster() as cluster:
        producer = Producer(cluster, "t")
        producer.send(None, b"v")

        assert producer.flush() == [Delivery(partition=0, base_offset=-1, record_count=1)]
        first, second = batches_seen(broker)
        assert first == second
        assert read_header(first).producer_id == 77
        assert read_header(first).producer_epoch == 3


def test_sequences_go_on_from_batch_to_batch(scene):
    script = (*opening(scene), written(), written(base_offset=3))
    with scene.play(*script) as broker, scene.cluster() as cluster:
        producer = Producer(cluster, "t")
        for value in (b"1", b"2", b"3"):
            producer.send(None, value)
        producer.flush()
        producer.send(None, b"4")

        assert producer.flush() == [Delivery(partition=0, base_offset=3, record_count=1)]
        assert [read_header(batch).base_sequence for batch in batches_seen(broker)] == [0, 3]


def test_a_leader_that_moved_is_looked_up_again(scene):
    again = (scene.metadata(), scene.metadata(topic(1)))
    script = (*opening(scene), written(ErrorCode.NOT_LEADER_OR_FOLLOWER), *again, written())
    with scene.play(*script) as broker, scene.cluster() as cluster:
        producer = Producer(cluster, "t")
        producer.send(None, b"v")

        assert producer.flush() == [Delivery(partition=0, base_offset=0, record_count=1)]
        assert len(set(batches_seen(broker))) == 1


def test_a_refusal_that_will_not_pass_is_raised(scene):
    script = (*opening(scene), written(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    with scene.play(*script), scene.cluster() as cluster:
        producer = Producer(cluster, "t")
        producer.send(None, b"v")

        with pytest.raises(BrokerError, match=r"^t: this is not allowed on the topic "):
            producer.flush()


def test_a_broker_without_producer_ids_gets_plain_batches(scene):
    script = (versions(producer_ids=False), scene.metadata(topic(1)), written())
    with scene.play(*script) as broker, scene.cluster() as cluster:
        producer = Producer(cluster, "t")
        producer.send(None, b"v")
        producer.flush()

        (batch,) = batches_seen(broker)
        assert read_header(batch).producer_id == -1
        assert read_header(batch).base_sequence == -1


def test_nothing_collected_means_nothing_sent(scene):
    with scene.play(*opening(scene)) as broker, scene.cluster() as cluster:
        assert Producer(cluster, "t").flush() == []
        assert batches_seen(broker) == []
