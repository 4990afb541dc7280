"""Which requests are answered, and how those that cannot be."""

import logging
import struct

import pytest

from kbroker.wire import ApiKey, ErrorCode
from kbroker.wire.messages.api_versions import ApiVersionsRequest
from kbroker.wire.messages.heartbeat import HeartbeatRequest
from kbroker.wire.messages.list_groups import ListGroupsRequest
from kbroker.wire.messages.metadata import MetadataRequest
from tests.server.stage import frame_of, heartbeat, running


def header(key, version, body=b""):
    head = struct.pack(">hhih", key, version, 7, 5) + b"tests"
    return struct.pack(">i", len(head + body)) + head + body


def introduction():
    return ApiVersionsRequest(client_software_name="tests", client_software_version="1.0")


@pytest.mark.parametrize("version", range(6))
async def test_api_versions_is_answered_in_every_version(version):
    async with running() as at:
        client = await at.connect()
        answer = await client.ask(introduction(), version)
        assert answer.error_code == ErrorCode.NONE
        assert ApiKey.API_VERSIONS in [each.api_key for each in answer.api_keys]


@pytest.mark.parametrize("version", [-1, 6, 99, 32767])
async def test_an_unknown_version_of_api_versions_is_answered_in_version_0(version):
    """Byte for byte what Kafka 4.3.1 sends, but for the highest version (KIP-511)."""
    async with running() as at:
        client = await at.connect()
        await client.send(header(18, version, b"\x00\x02a\x02b\x00"))
        assert await client.frame() == struct.pack(">ihihhh", 7, 35, 1, 18, 0, 5)
        assert (await client.ask(introduction(), 3)).error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("key", "version"),
    [(0, 0), (0, 2), (0, 99), (3, 99), (12, -1), (12, 5), (4, 0), (2, 1), (-1, 0)],
    ids=str,
)
async def test_other_versions_and_apis_that_are_not_served_end_the_connection(key, version):
    """As Kafka 4.3.1 does, also for Produce 0 to 2, which it advertises."""
    async with running() as at:
        client = await at.connect()
        await client.send(header(key, version, bytes(20)))
        assert await client.is_closed()


async def test_bytes_behind_a_request_are_ignored():
    async with running() as at:
        client = await at.connect()
        await client.send(header(18, 0, b"and more"))
        assert (await client.answer(ApiKey.API_VERSIONS, 0))[0] == 7


async def test_a_null_client_id_is_an_empty_one():
    async with running() as at:
        client = await at.connect()
        await client.send(frame_of(HeartbeatRequest(generation_id=4), 0, 9, client_id=None))
        assert (await client.answer(ApiKey.HEARTBEAT, 0))[0] == 9


async def test_a_bug_is_answered_with_an_error_where_the_answer_has_a_place_for_it(caplog):
    with caplog.at_level(logging.ERROR, "kbroker.requests"):
        async with running() as at:
            client = await at.connect()
            for version in range(6):
                answer = await client.ask(ListGroupsRequest(), version)
                assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
            assert await client.heartbeat(2) == 2
            assert at.metric("request_failures_total") == 6
    record = caplog.records[0]
    assert record.exc_info[1].args == ("a bug in a handler",)
    assert record.fields["api"] == "LIST_GROUPS"
    assert record.fields["client_id"] == "tests"


async def test_a_bug_ends_the_connection_where_the_answer_has_no_place_for_it():
    async with running() as at:
        client, other = await at.connect(), await at.connect()
        await client.send(heartbeat(1) + frame_of(MetadataRequest(), 12, 2))
        assert struct.unpack_from(">i", await client.frame())[0] == 1
        assert await client.is_closed()
        assert await other.heartbeat(2) == 2


async def test_the_same_bug_is_answered_in_the_version_that_has_a_place_for_it():
    async with running() as at:
        client = await at.connect()
        answer = await client.ask(MetadataRequest(), 13)
        assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
