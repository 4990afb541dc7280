"""One socket, against peers that do what real brokers seldom do."""

import socket

import pytest

from kbroker.client.connection import Connection
from kbroker.client.errors import BadAnswer, ConnectionFailed, UnsupportedByBroker
from kbroker.wire import ApiKey, ErrorCode
from kbroker.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kbroker.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.client.scripted_broker import ScriptedBroker, answer, raw

METADATA_0_TO_9 = ApiVersionsResponse(
    api_keys=[ApiVersion(api_key=3, min_version=0, max_version=9)]
)
UNSUPPORTED = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)


def connect(broker: ScriptedBroker, timeout_s: float = 10.0) -> Connection:
    return Connection("127.0.0.1", broker.port, "test", timeout_s)


def test_the_newest_common_version_is_used():
    script = [answer(METADATA_0_TO_9), answer(MetadataResponse(controller_id=7))]
    with ScriptedBroker(script) as broker, connect(broker) as connection:
        response = connection.ask(MetadataRequest(), MetadataResponse)

        assert response.controller_id == 7
        assert broker.requests == [(18, 3), (3, 9)]


def test_versions_are_asked_for_once_and_a_chosen_version_is_kept():
    script = [answer(METADATA_0_TO_9), answer(MetadataResponse()), answer(MetadataResponse())]
    with ScriptedBroker(script) as broker, connect(broker) as connection:
        connection.ask(MetadataRequest(), MetadataResponse, newest=4)
        connection.request(MetadataRequest(), 1)

        assert broker.requests == [(18, 3), (3, 4), (3, 1)]


def test_a_broker_that_does_not_know_our_api_versions_is_asked_at_version_0():
    """KIP-511: the refusal comes in version 0, whatever was asked."""
    script = [answer(UNSUPPORTED, version=0), answer(METADATA_0_TO_9)]
    with ScriptedBroker(script) as broker, connect(broker) as connection:
        assert connection.version_of(MetadataRequest) == 9
        assert broker.requests == [(18, 3), (18, 0)]


def test_an_api_the_broker_does_not_have_is_unsupported():
    versions = ApiVersionsResponse(api_keys=[ApiVersion(api_key=3, min_version=90, max_version=91)])
    with ScriptedBroker([answer(versions)]) as broker, connect(broker) as connection:
        with pytest.raises(UnsupportedByBroker, match="only versions 90-91 of Metadata"):
            connection.version_of(MetadataRequest)
        assert connection.is_open


def test_answers_to_pipelined_requests_come_in_order():
    script = [answer(MetadataResponse(controller_id=number)) for number in range(5)]
    with ScriptedBroker(script) as broker, connect(broker) as connection:
        responses = connection.pipeline([MetadataRequest()] * 5, 8)

        assert [response.controller_id for response in responses] == [0, 1, 2, 3, 4]
        assert connection.in_flight == 0


def test_a_request_can_be_sent_without_waiting_for_its_answer():
    with ScriptedBroker([answer(MetadataResponse())]) as broker, connect(broker) as connection:
        connection.send(MetadataRequest(), 8)

        assert connection.in_flight == 1
        assert isinstance(connection.receive(), MetadataResponse)


def test_raw_bytes_go_out_and_a_raw_frame_comes_back():
    request = b"\x00\x03\x00\x00" + b"\x00\x00\x00\x05" + b"\xff\xff"
    with ScriptedBroker([raw(b"\x00\x00\x00\x03abc")]) as broker, connect(broker) as connection:
        connection.send_raw(len(request).to_bytes(4, "big"))
        connection.send_raw(request)

        assert connection.receive_frame() == b"abc"
        assert broker.requests == [(ApiKey.METADATA, 0)]


@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff", b"HTTP"])
def test_a_peer_that_does_not_speak_kafka_is_found_out(length):
    with ScriptedBroker([raw(length)]) as broker, connect(broker) as connection:
        with pytest.raises(BadAnswer, match="does not speak Kafka"):
            connection.request(MetadataRequest(), 8)
        assert not connection.is_open


def test_an_answer_that_ends_too_early_is_a_bad_answer():
    script = [
        lambda header, _: (
            b"\x00\x00\x00\x06" + header.correlation_id.to_bytes(4, "big") + b"\x01\x02"
        )
    ]
    with ScriptedBroker(script) as broker, connect(broker) as connection:
        with pytest.raises(BadAnswer, match="METADATA"):
            connection.request(MetadataRequest(), 8)
        assert not connection.is_open


def test_an_answer_to_another_request_is_a_bad_answer():
    def other(header, body):
        return answer(MetadataResponse())(header._replace(correlation_id=99), body)

    with (
        ScriptedBroker([other]) as broker,
        connect(broker) as connection,
        pytest.raises(BadAnswer, match="answered request 99, not 1"),
    ):
        connection.request(MetadataRequest(), 8)


def test_a_peer_that_hangs_up_is_a_failed_connection():
    with ScriptedBroker([raw(b"\x00\x00")]) as broker, connect(broker) as connection:
        with pytest.raises(ConnectionFailed, match="closed the connection"):
            connection.request(MetadataRequest(), 8)
        assert not connection.is_open
        with pytest.raises(ConnectionFailed, match="is closed"):
            connection.request(MetadataRequest(), 8)


def test_a_silent_peer_is_given_up_after_the_timeout():
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Connection("127.0.0.1", silent.getsockname()[1], timeout_s=0.05) as connection,
        pytest.raises(ConnectionFailed, match=r"did not answer within 0\.05 s"),
    ):
        connection.request(ApiVersionsRequest(), 3)


def test_nobody_listening_is_a_failed_connection():
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]

    with pytest.raises(ConnectionFailed, match=f"cannot connect to 127.0.0.1:{port}: "):
        Connection("127.0.0.1", port)
