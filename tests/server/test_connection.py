"""Order, back-pressure and endings of one connection, over real sockets."""

import os
import random
import socket
import struct
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from types import SimpleNamespace

import pytest
import trio
import trio.testing

from kbroker.broker.requests import ConnectionInfo
from kbroker.model import FileSlice
from kbroker.server import Dispatcher, ServerSettings
from kbroker.server.connection import MAX_IN_FLIGHT, MAX_QUEUED_BYTES, Connection, Surroundings
from kbroker.server.poller import Poller
from kbroker.server.stats import ServerStats
from kbroker.server.transports import SocketTransport
from kbroker.telemetry import Registry
from kbroker.wire import ApiKey, ErrorCode
from kbroker.wire.messages.fetch import FetchRequest
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.server.stage import (
    TABLE,
    Client,
    Stage,
    exclusive,
    frame_of,
    heartbeat,
    later,
    polled,
    running,
)

# Small ones; see the turn's cost in the connection.
REQUESTS_A_TURN = 16


def produce(records, acks, number=1):
    partition = PartitionProduceData(index=0, records=records)
    topic = TopicProduceData(name="t", partition_data=[partition])
    return frame_of(ProduceRequest(acks=acks, topic_data=[topic]), 9, number)


@asynccontextmanager
async def alone(authenticated=True):
    """A connection that is no server's, its client and its stage."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    stage, registry = Stage(), Registry()
    info = ConnectionInfo(
        connection_id="c", listener="L", peer_host="h", peer_port=1, authenticated=authenticated
    )
    dispatcher = Dispatcher(TABLE, stage, registry)
    closed = []
    poller = Poller()
    client = Client(trio.SocketStream(trio.socket.from_stdlib_socket(theirs)))
    async with trio.open_nursery() as nursery:
        around = Surroundings(
            dispatcher, ServerSettings(), ServerStats(registry), nursery, closed.append
        )
        connection = Connection(info, SocketTransport(ours, poller), around, trio.current_time())
        poller.add(ours.fileno(), connection)
        nursery.start_soon(poller.run)
        yield SimpleNamespace(connection=connection, client=client, stage=stage)
        connection.close("the test is over")
        await client.stream.aclose()
        nursery.cancel_scope.cancel()
    poller.close()
    assert closed == [connection]


async def correlation_ids(client, count):
    return [struct.unpack_from(">i", await client.frame())[0] for _ in range(count)]


async def test_a_request_cut_at_any_byte_is_answered_once_it_is_whole():
    async with running() as at:
        client = await at.connect()
        for cut in range(1, len(heartbeat(1))):
            await client.send(heartbeat(cut)[:cut])
            await trio.testing.wait_all_tasks_blocked()
            await client.send(heartbeat(cut)[cut:])
            assert await correlation_ids(client, 1) == [cut]


async def test_a_thousand_pipelined_requests_are_begun_and_answered_in_order():
    numbers = list(range(1000))
    async with running() as at:
        client = await at.connect()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.send, b"".join(map(heartbeat, numbers)))
            assert await correlation_ids(client, 1000) == numbers
        assert at.stage.begun == numbers
        assert at.metric("requests_total", api="heartbeat") == 1000


async def test_answers_leave_in_order_when_a_later_one_is_ready_first():
    async with running() as at:
        client = await at.connect()
        await client.send(heartbeat(1) + later(2) + later(3) + heartbeat(4) + later(5))
        await at.stage.until_begun(5)
        assert await correlation_ids(client, 1) == [1]
        at.stage.gate(5).set()
        at.stage.gate(3).set()
        with trio.move_on_after(0.05) as waited:
            await client.frame()
        assert waited.cancelled_caught
        at.stage.gate(2).set()
        assert await correlation_ids(client, 4) == [2, 3, 4, 5]
        assert await client.heartbeat(6) == 6


async def test_any_order_of_finishing_gives_the_order_of_the_requests():
    dice = random.Random(7)
    numbers = list(range(60))
    async with running() as at:
        client = await at.connect()
        kinds = [dice.choice((heartbeat, later)) for _ in numbers]
        await client.send(b"".join(kind(n) for kind, n in zip(kinds, numbers, strict=True)))
        await at.stage.until_begun(60)
        for number in dice.sample(numbers, 60):
            at.stage.gate(number).set()
            await trio.lowlevel.checkpoint()
        assert await correlation_ids(client, 60) == numbers


async def test_an_exclusive_request_holds_up_those_behind_it():
    async with running() as at:
        client = await at.connect()
        await client.send(later(1) + exclusive(2) + heartbeat(3))
        await at.stage.until_begun(2)
        await trio.sleep(0.02)
        assert at.stage.begun == [1, 2]
        at.stage.gate(2).set()
        await at.stage.until_begun(3)
        at.stage.gate(1).set()
        assert await correlation_ids(client, 3) == [1, 2, 3]


async def test_no_more_requests_are_begun_than_may_be_in_flight():
    numbers = list(range(3 * MAX_IN_FLIGHT))
    async with running() as at:
        client = await at.connect()
        await client.send(b"".join(map(later, numbers)))
        await at.stage.until_begun(MAX_IN_FLIGHT)
        await trio.sleep(0.02)
        assert len(at.stage.begun) == MAX_IN_FLIGHT
        at.stage.gate(0).set()
        await at.stage.until_begun(MAX_IN_FLIGHT + 1)
        for number in numbers:
            at.stage.gate(number).set()
        assert await correlation_ids(client, len(numbers)) == numbers


async def test_large_answers_that_wait_hold_up_further_requests():
    async with running() as at:
        client = await at.connect()
        at.stage.slices = [bytes(MAX_QUEUED_BYTES)]
        await client.send(later(0) + frame_of(FetchRequest(), 11, 500))
        await client.send(frame_of(FetchRequest(), 11, 501) + heartbeat(502))
        await trio.sleep(0.05)
        assert at.stage.begun == [0]
        at.stage.gate(0).set()
        assert await correlation_ids(client, 4) == [0, 500, 501, 502]


async def test_a_client_that_does_not_read_is_not_read_from():
    answer = bytes(200_000)
    async with running() as at:
        client = await at.connect()
        at.stage.slices = [answer]
        request = frame_of(FetchRequest(), 11, 5)
        with trio.move_on_after(0.3):
            await client.send(request * 2000)
        begun = at.metric("requests_total", api="fetch")
        await trio.sleep(0.1)
        assert at.metric("requests_total", api="fetch") == begun < 500
        assert await correlation_ids(client, 20) == [5] * 20


async def test_a_busy_connection_leaves_turns_to_others():
    """Trio runs every task once a turn, in any order, so two turns may lie between two looks."""
    async with running() as at:
        client = await at.connect()
        await client.send(b"".join(map(heartbeat, range(1000))))
        looks = [0]
        with trio.fail_after(10):
            while looks[-1] < 1000:
                await trio.lowlevel.checkpoint()
                looks.append(len(at.stage.begun))
        assert max(after - before for before, after in pairwise(looks)) <= 2 * REQUESTS_A_TURN
        assert await correlation_ids(client, 1000) == list(range(1000))


async def test_acks_0_gets_no_answer_and_disturbs_none():
    async with running() as at:
        client = await at.connect()
        await client.send(produce(b"first", 0) + heartbeat(2) + produce(b"third", -1, 3))
        assert await correlation_ids(client, 2) == [2, 3]
        assert at.stage.produced == [b"first", b"third"]


async def test_large_records_reach_the_handler_unharmed():
    records = os.urandom(2_500_000)
    async with running() as at:
        client = await at.connect()
        await client.send(produce(b"a", 1, 1) + produce(records, 1, 2) + heartbeat(3))
        assert await correlation_ids(client, 3) == [1, 2, 3]
        assert at.stage.produced == [b"a", records]


async def test_file_slices_and_bytes_interleave(tmp_path):
    content = os.urandom(700_000)
    path = tmp_path / "segment"
    path.write_bytes(content)
    descriptor = os.open(path, os.O_RDONLY)
    async with running() as at:
        client = await at.connect()
        at.stage.slices = [
            FileSlice(descriptor, 0, 400_000),
            b"in memory",
            FileSlice(descriptor, 400_000, 300_000),
            None,
        ]
        await client.send(frame_of(FetchRequest(), 11, 1) + heartbeat(2))
        _, answer = await client.answer(ApiKey.FETCH, 11)
        records = [bytes(each.records or b"") for each in answer.responses[0].partitions]
        assert records == [content[:400_000], b"in memory", content[400_000:], b""]
        assert await correlation_ids(client, 1) == [2]
    os.close(descriptor)


async def test_a_truncated_file_ends_the_connection_and_no_other(tmp_path):
    path = tmp_path / "segment"
    path.write_bytes(b"short")
    descriptor = os.open(path, os.O_RDONLY)
    async with running() as at:
        victim, other = await at.connect(), await at.connect()
        at.stage.slices = [FileSlice(descriptor, 0, 100)]
        await victim.send(frame_of(FetchRequest(), 11, 1))
        assert await victim.is_closed()
        assert await other.heartbeat(1) == 1
    os.close(descriptor)


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 5, 14, len(heartbeat(1)) - 1])
async def test_a_disconnect_at_any_byte_cancels_what_waits(cut):
    async with running() as at:
        client = await at.connect()
        await client.send(later(1) + later(2) + heartbeat(3)[:cut])
        await at.stage.until_begun(2)
        await client.stream.aclose()
        with trio.fail_after(10):
            while len(at.stage.cancelled) < 2 or at.metric("connections"):
                await trio.sleep(0.001)
        assert sorted(at.stage.cancelled) == [1, 2]


@pytest.mark.parametrize("behind", [b"", heartbeat(2), heartbeat(2)[:7]])
async def test_a_disconnect_cancels_an_exclusive_request_too(behind):
    async with running() as at:
        client = await at.connect()
        await client.send(exclusive(1) + behind)
        await at.stage.until_begun(1)
        await client.stream.aclose()
        with trio.fail_after(10):
            while not at.stage.cancelled:
                await trio.sleep(0.001)
        assert at.stage.begun == [1]


@pytest.mark.parametrize(
    "noise",
    [
        struct.pack(">i", -1),
        struct.pack(">i", 104_857_601),
        struct.pack(">i", 0),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        bytes([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]),
        struct.pack(">i", 3) + b"abc",
        struct.pack(">ihhih", 10, 999, 0, 1, -1),
        struct.pack(">ihhih", 10, 12, 0, 1, 500),
    ],
    ids=["negative", "oversize", "empty", "http", "tls", "short", "unknown api", "long client id"],
)
async def test_bytes_that_are_no_request_end_the_connection_after_earlier_answers(noise):
    async with running() as at:
        client, other = await at.connect(), await at.connect()
        await client.send(heartbeat(1) + noise)
        assert await correlation_ids(client, 1) == [1]
        assert await client.is_closed()
        assert await other.heartbeat(2) == 2
        assert at.metric("protocol_errors_total") == 1


async def test_random_noise_never_disturbs_other_clients():
    dice = random.Random(11)
    async with running() as at:
        other = await at.connect()
        for number in range(100):
            client = await at.connect()
            body = dice.randbytes(dice.randrange(200))
            key = dice.choice([0, 1, 3, 12, 13, 14, 16, 18, dice.randrange(100)])
            head = struct.pack(">hhi", key, dice.randrange(14), number)
            await client.send(struct.pack(">i", len(head + body)) + head + body)
            await client.stream.aclose()
            assert await other.heartbeat(number) == number


async def test_before_authentication_only_small_frames_and_few_apis_are_taken():
    async with running(needs_authentication=True) as at:
        client = await at.connect()
        await client.send(struct.pack(">i", 524_289))
        assert await client.is_closed()
        client = await at.connect()
        await client.send(heartbeat(1))
        assert await client.is_closed()
        assert at.stage.begun == []


async def test_a_handler_can_hang_up():
    async with running() as at:
        client = await at.connect()
        await client.send(heartbeat(1) + frame_of(ProduceRequest(), 9, 2))
        assert await correlation_ids(client, 1) == [1]
        assert await client.is_closed()
        assert at.metric("protocol_errors_total") == 0


async def test_an_idle_connection_holds_no_buffer():
    async with alone() as at:
        assert await at.client.heartbeat(1) == 1
        assert at.connection.memory_bytes == 0
        await at.client.send(heartbeat(2)[:9])
        await trio.testing.wait_all_tasks_blocked()
        assert 0 < at.connection.memory_bytes <= 2048
        await at.client.send(heartbeat(2)[9:])
        assert await correlation_ids(at.client, 1) == [2]
        assert at.connection.memory_bytes == 0


async def test_a_large_buffer_is_kept_until_the_connection_is_idle():
    async with alone() as at:
        await at.client.send(produce(bytes(300_000), -1))
        assert await correlation_ids(at.client, 1) == [1]
        assert at.connection.memory_bytes > 300_000
        now = trio.current_time()
        at.connection.sweep(now + 1, 600)
        at.connection.sweep(now + 2, 600)
        assert at.connection.memory_bytes == 0
        assert await at.client.heartbeat(2) == 2


async def test_a_client_that_never_says_who_it_is_is_closed():
    async with alone(authenticated=False) as at:
        now = trio.current_time()
        at.connection.sweep(now + 9.9, 600)
        with trio.move_on_after(0.02) as waited:
            await at.client.stream.receive_some()
        assert waited.cancelled_caught
        at.connection.sweep(now + 10.1, 600)
        assert await at.client.is_closed()


async def test_a_connection_closed_before_it_is_served_never_begins_a_request():
    async with alone() as at:
        at.connection.drain()
        with suppress(trio.BrokenResourceError):
            await at.client.send(heartbeat(1))
        assert await at.client.is_closed()
        assert at.stage.begun == []


async def test_a_client_that_closes_its_half_gets_the_answers_to_what_it_sent():
    async with running() as at:
        client = await at.connect()
        at.stage.slices = [bytes(3_000_000)]
        await client.send(heartbeat(1) + frame_of(FetchRequest(), 11, 2) + heartbeat(3))
        await client.stream.send_eof()
        assert await correlation_ids(client, 3) == [1, 2, 3]
        assert await client.is_closed()


async def test_a_request_and_the_end_that_come_at_once_are_answered_in_full():
    """More than the socket takes, and more than a turn sends."""
    async with running() as at:
        client = await at.connect()
        at.stage.slices = [bytes(3_000_000)]
        sock = client.stream.socket
        # Both in the kernel before the server has its turn.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        sock._sock.send(frame_of(FetchRequest(), 11, 2))
        sock._sock.shutdown(socket.SHUT_WR)
        assert await correlation_ids(client, 1) == [2]
        assert await client.is_closed()


async def test_a_client_that_goes_while_it_is_held_up_is_noticed_at_once():
    async with running() as at:
        client = await at.connect()
        await client.send(exclusive(1) + b"".join(map(heartbeat, range(2000))))
        await at.stage.until_begun(1)
        await client.stream.aclose()
        with trio.fail_after(10):
            while not at.stage.cancelled:
                await trio.sleep(0.001)
        assert at.stage.begun == [1]


async def test_an_answer_that_is_polled_leaves_when_somebody_woke_it_and_it_is_there():
    async with running() as at:
        client = await at.connect()
        await client.send(polled(1) + later(2) + polled(3) + heartbeat(4))
        await at.stage.until_begun(4)
        at.stage.wakes[1]()
        at.stage.tell(3)
        at.stage.gate(2).set()
        with trio.move_on_after(0.05) as waited:
            await client.frame()
        assert waited.cancelled_caught
        at.stage.tell(1)
        assert await correlation_ids(client, 4) == [1, 2, 3, 4]
        assert at.stage.wakes == {}


async def test_a_disconnect_ends_what_is_polled():
    async with running() as at:
        client = await at.connect()
        await client.send(polled(1))
        await at.stage.until_begun(1)
        await client.stream.aclose()
        with trio.fail_after(10):
            while not at.stage.cancelled:
                await trio.sleep(0.001)
        assert at.stage.wakes == {}


async def test_a_polled_answer_that_fails_is_answered_with_an_error():
    async with running() as at:
        client = await at.connect()
        await client.send(polled(1))
        await at.stage.until_begun(1)
        at.stage.tell(1, "broken")
        number, answer = await client.answer(ApiKey.JOIN_GROUP, 5)
        assert (number, answer.error_code) == (1, ErrorCode.UNKNOWN_SERVER_ERROR)
        assert at.stage.wakes == {}
        assert await client.heartbeat(2) == 2


async def test_what_is_polled_may_be_answered_while_the_connection_drains():
    async with running() as at:
        client = await at.connect()
        await client.send(polled(1))
        await at.stage.until_begun(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(at.server.shutdown, 10)
            await trio.sleep(0.01)
            at.stage.tell(1)
            assert await correlation_ids(client, 1) == [1]
            assert await client.is_closed()
