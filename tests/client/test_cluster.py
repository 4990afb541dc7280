"""Leaders, controllers and second attempts, against brokers that change their minds."""

import socket
import time

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.errors import BrokerError, ConnectionFailed
from kbroker.client.topics import delete_topic
from kbroker.wire import ErrorCode
from kbroker.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from kbroker.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from tests.client.scene import Scene, topic
from tests.client.scripted_broker import Step, answer, raw

VERSIONS = answer(
    ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=3, min_version=0, max_version=8),
            ApiVersion(api_key=20, min_version=1, max_version=5),
        ]
    )
)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def deleted(code: int) -> Step:
    return answer(DeleteTopicsResponse(responses=[DeletableTopicResult(name="t", error_code=code)]))


def test_the_leader_is_the_one_that_metadata_names(scene):
    with scene.play(VERSIONS, scene.metadata(topic(1, -1, 9))), scene.cluster() as cluster:
        assert cluster.leader("t", 0).address.port == scene.broker.port
        with pytest.raises(BrokerError, match="t-1: the partition has no leader"):
            cluster.leader("t", 1)
        with pytest.raises(BrokerError, match="t-2: broker 9 is not there"):
            cluster.leader("t", 2)
        with pytest.raises(BrokerError, match="t: the topic has no partition 3"):
            cluster.leader("t", 3)


def test_a_topic_that_cannot_be_described_says_why_and_is_not_remembered(scene):
    unknown = topic(error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    script = (VERSIONS, scene.metadata(unknown), scene.metadata(topic(1)))
    with scene.play(*script), scene.cluster() as cluster:
        with pytest.raises(BrokerError, match=r"^t: there is no such .* \(UNKNOWN_TOPIC_OR_PART"):
            cluster.topic("t")
        assert len(cluster.topic("t").partitions) == 1


def test_a_change_is_sent_again_when_the_controller_moved(scene):
    moved = (scene.metadata(), deleted(ErrorCode.NOT_CONTROLLER))
    found = (scene.metadata(), deleted(ErrorCode.NONE))
    with scene.play(VERSIONS, *moved, *found) as broker, scene.cluster() as cluster:
        delete_topic(cluster, "t")

        assert broker.requests == [(18, 3), (3, 8), (20, 5), (3, 8), (20, 5)]


def test_what_will_not_pass_is_not_tried_again(scene):
    refused = deleted(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    with scene.play(VERSIONS, scene.metadata(), refused) as broker, scene.cluster() as cluster:
        with pytest.raises(BrokerError) as caught:
            delete_topic(cluster, "t")

        assert caught.value.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
        assert len(broker.requests) == 3


def test_an_unknown_topic_is_not_waited_for_unless_asked(scene):
    refused = deleted(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    with scene.play(VERSIONS, scene.metadata(), refused) as broker, scene.cluster() as cluster:
        with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            delete_topic(cluster, "t")

        assert len(broker.requests) == 3


def test_retrying_ends_with_the_last_error_when_the_time_is_over(scene):
    attempts = []

    def attempt() -> None:
        attempts.append(1)
        raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE, subject="t")

    with scene.play(VERSIONS, *[scene.metadata()] * 50), scene.cluster(0.3) as cluster:
        started = time.monotonic()
        with pytest.raises(BrokerError, match="t: the partition has no leader"):
            cluster.retry(attempt)

        assert len(attempts) > 2
        assert time.monotonic() - started < 5


def test_a_lost_connection_is_opened_again_once_the_cluster_is_known(scene):
    first = (VERSIONS, scene.metadata(topic(1)), raw(b""))
    second = (VERSIONS, scene.metadata(), scene.metadata(topic(1, 1)))
    with scene.play(*first, *second), scene.cluster() as cluster:
        assert len(cluster.topic("t").partitions) == 1
        cluster.forget()

        assert len(cluster.retry(lambda: cluster.topic("t")).partitions) == 2


def test_a_cluster_that_was_never_reached_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    started = time.monotonic()

    with Cluster(f"127.0.0.1:{port}") as cluster, pytest.raises(ConnectionFailed):
        cluster.retry(cluster.metadata)

    assert time.monotonic() - started < 5


def test_the_next_bootstrap_address_is_tried_when_the_first_is_dead(scene):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        dead = gone.getsockname()[1]
    with (
        scene.play(VERSIONS, scene.metadata()),
        Cluster(f"127.0.0.1:{dead},127.0.0.1:{scene.broker.port}") as cluster,
    ):
        assert cluster.metadata().controller_id == 1


def test_an_error_code_of_the_future_is_shown_by_its_number():
    error = BrokerError(9999, subject="t")

    assert str(error) == "t: error code 9999 (UNKNOWN_SERVER_ERROR)"
