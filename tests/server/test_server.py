"""Listeners, limits, idleness and shutdown of a whole server."""

import errno
import socket

import pytest
import trio

from kbroker.server import Dispatcher, ListenerSettings, Server, ServerSettings
from kbroker.telemetry import Registry
from tests.server.stage import TABLE, Client, Stage, exclusive, heartbeat, later, running


async def test_an_idle_connection_is_closed_and_a_busy_one_is_not():
    async with running(ServerSettings(max_idle_ms=300)) as at:
        idle, busy = await at.connect(), await at.connect()
        assert await idle.heartbeat(1) == 1
        with trio.move_on_after(0.8):
            while True:
                await busy.heartbeat(2)
                await trio.sleep(0.05)
        assert await busy.heartbeat(3) == 3
        assert await idle.is_closed()
        assert at.metric("connections_idle_closed_total") == 1
        assert at.metric("connections") == 1


async def test_connections_wait_where_there_may_be_no_more():
    async with running(ServerSettings(max_connections=1)) as at:
        first, second = await at.connect(), await at.connect()
        assert await first.heartbeat(1) == 1
        await second.send(heartbeat(2))
        with trio.move_on_after(0.05) as waited:
            await second.frame()
        assert waited.cancelled_caught
        await first.stream.aclose()
        assert (await second.frame())[:4] == bytes([0, 0, 0, 2])


async def test_an_address_with_too_many_connections_loses_the_new_one():
    async with running(ServerSettings(max_connections_per_ip=1)) as at:
        first = await at.connect()
        assert await first.heartbeat(1) == 1
        assert await (await at.connect()).is_closed()
        assert at.metric("connections_refused_total") == 1
        assert await first.heartbeat(2) == 2


async def test_new_connections_come_no_faster_than_allowed():
    async with running(ServerSettings(max_connection_creation_rate=20)) as at:
        began = trio.current_time()
        for number in range(26):
            assert await (await at.connect()).heartbeat(number) == number
        assert trio.current_time() - began > 0.15


async def test_the_accept_loop_survives_running_out_of_descriptors(monkeypatch):
    """The kernel's answer is played; to run out of descriptors for real would hurt the tests."""
    failures = [errno.EMFILE, errno.ECONNABORTED]
    accept = socket.socket.accept

    def failing(self):
        if failures:
            raise OSError(failures.pop(), "played")
        return accept(self)

    async with running() as at:
        monkeypatch.setattr(socket.socket, "accept", failing)
        client = await at.connect()
        assert await client.heartbeat(1) == 1
        assert at.metric("accept_errors_total") == 2


async def test_shutdown_lets_begun_requests_finish_and_begins_no_more():
    async with running() as at:
        idle, waiting = await at.connect(), await at.connect()
        assert await idle.heartbeat(0) == 0
        await waiting.send(later(1) + exclusive(2))
        await at.stage.until_begun(3)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(at.server.shutdown, 10)
            assert await idle.is_closed()
            await waiting.send(heartbeat(3))
            with pytest.raises(OSError, match="all attempts to connect"):
                await at.connect()
            at.stage.gate(2).set()
            await trio.sleep(0.01)
            at.stage.gate(1).set()
            assert (await waiting.frame())[:4] == bytes([0, 0, 0, 1])
            assert (await waiting.frame())[:4] == bytes([0, 0, 0, 2])
            assert await waiting.is_closed()
        assert at.stage.begun == [0, 1, 2]
        assert at.stage.cancelled == []


async def test_shutdown_cuts_off_what_does_not_finish_in_time():
    async with running() as at:
        client = await at.connect()
        await client.send(later(1))
        await at.stage.until_begun(1)
        with trio.fail_after(5):
            await at.server.shutdown(0.05)
        assert await client.is_closed()
        assert at.stage.cancelled == [1]


async def test_several_listeners_report_their_addresses_by_name():
    settings = [ListenerSettings("ONE", "127.0.0.1", 0), ListenerSettings("TWO", "localhost", 0)]
    registry = Registry()
    server = Server(settings, Dispatcher(TABLE, Stage(), registry), registry)
    async with trio.open_nursery() as nursery:
        addresses = await nursery.start(server.run)
        assert [each.listener for each in addresses] == ["ONE", "TWO"]
        for address in addresses:
            client = Client(await trio.open_tcp_stream(address.host, address.port))
            assert await client.heartbeat(1) == 1
            await client.stream.aclose()
        await server.shutdown(0)


@pytest.mark.parametrize("host", ["", "::1", "0.0.0.0"])
async def test_wildcards_and_ipv6_are_listened_on(host):
    stage, registry = Stage(), Registry()
    listener = ListenerSettings("L", host, 0)
    server = Server([listener], Dispatcher(TABLE, stage, registry), registry)
    async with trio.open_nursery() as nursery:
        (address,) = await nursery.start(server.run)
        target = "::1" if host == "::1" else "127.0.0.1"
        client = Client(await trio.open_tcp_stream(target, address.port))
        assert await client.heartbeat(1) == 1
        assert stage.peers == {target}
        await client.stream.aclose()
        await server.shutdown(0)


async def test_a_port_in_use_is_reported_with_its_address():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        registry = Registry()
        listeners = [
            ListenerSettings("A", "127.0.0.1", 0),
            ListenerSettings("B", "127.0.0.1", port),
        ]
        server = Server(listeners, Dispatcher(TABLE, Stage(), registry), registry)
        with pytest.raises(OSError, match=f"127.0.0.1:{port}"):
            await server.run()
