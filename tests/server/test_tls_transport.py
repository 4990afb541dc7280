"""Encrypted connections, beside others and in trouble, over real sockets."""

import os
import random
import socket
import ssl
import struct
from contextlib import suppress

import pytest
import trio
import trio.testing

from kbroker.config import BrokerConfig
from kbroker.model import FileSlice
from kbroker.server import ServerSettings, connection, server
from kbroker.server.poller import Poller
from kbroker.server.tls import tls_context
from kbroker.wire import ApiKey
from kbroker.wire.messages.fetch import FetchRequest
from kbroker.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.server.stage import Client, exclusive, frame_of, heartbeat, later, running

FETCH = frame_of(FetchRequest(), 11, 2)


def context_of(pem):
    """How a server with this key encrypts."""
    configs = {
        "listeners": "SSL://127.0.0.1:0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(pem),
    }
    return tls_context(BrokerConfig.of(configs), "SSL")


@pytest.fixture
def serving(server_pem):
    """How the server encrypts."""
    return context_of(server_pem)


@pytest.fixture
def trusting(authority):
    """How a client encrypts that trusts the server."""
    return ssl.create_default_context(cafile=authority.certificate)


@pytest.fixture
def large_file(tmp_path):
    """A file of 5 MB, open."""
    path = tmp_path / "segment"
    path.write_bytes(random.Random(1).randbytes(5_000_000))
    descriptor = os.open(path, os.O_RDONLY)
    yield path.read_bytes(), descriptor
    os.close(descriptor)


class SlowStream(trio.abc.HalfCloseableStream):
    """A client that takes what comes a little at a time, and that begins late."""

    def __init__(self, stream, max_bytes):
        self._stream = stream
        self._max_bytes = max_bytes
        self._is_first = True

    async def receive_some(self, max_bytes=None):
        await trio.sleep(0.2 if self._is_first else 0.002)
        self._is_first = False
        return await self._stream.receive_some(self._max_bytes)

    async def send_all(self, data):
        await self._stream.send_all(data)

    async def send_eof(self):
        await self._stream.send_eof()

    async def wait_send_all_might_not_block(self):
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self):
        await self._stream.aclose()


def records_of(answer):
    return [bytes(each.records or b"") for each in answer.responses[0].partitions]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_requests_and_answers_of_all_sizes_pass(serving, trusting, large_file, version):
    content, descriptor = large_file
    trusting.minimum_version = trusting.maximum_version = version
    sent = random.Random(2).randbytes(3_000_000)
    async with running(tls=serving) as at:
        client = await at.connect(trusting)
        assert await client.heartbeat(1) == 1
        partition = PartitionProduceData(index=0, records=sent)
        topic = TopicProduceData(name="t", partition_data=[partition])
        await client.ask(ProduceRequest(acks=1, topic_data=[topic]), 9)
        assert at.stage.produced == [sent]
        at.stage.slices = [
            FileSlice(descriptor, 0, 4_999_000),
            b"in memory",
            FileSlice(descriptor, 4_999_000, 1000),
            bytes(200_000),
        ]
        records = records_of(await client.ask(FetchRequest(), 11))
        assert records == [content[:4_999_000], b"in memory", content[4_999_000:], bytes(200_000)]
        assert client.stream.version() == version.name.replace("_", ".")
        assert at.stage.principals == ["User:ANONYMOUS"]


async def test_a_thousand_requests_at_once_are_answered_in_order(serving, trusting):
    async with running(tls=serving) as at, trio.open_nursery() as nursery:
        client = await at.connect(trusting)
        nursery.start_soon(client.send, b"".join(map(heartbeat, range(1000))))
        numbers = [struct.unpack_from(">i", await client.frame())[0] for _ in range(1000)]
        assert numbers == list(range(1000))


async def test_a_request_cut_at_any_byte_is_answered_once_it_is_whole(serving, trusting):
    async with running(tls=serving) as at:
        client = await at.connect(trusting)
        for cut in range(1, len(heartbeat(1))):
            await client.send(heartbeat(cut)[:cut])
            await trio.testing.wait_all_tasks_blocked()
            await client.send(heartbeat(cut)[cut:])
            assert (await client.answer(ApiKey.HEARTBEAT, 4))[0] == cut


async def test_a_slow_reader_gets_all_and_holds_up_nobody(serving, trusting, large_file):
    content, descriptor = large_file
    async with running(tls=serving) as at:
        connected, other = await at.connect(trusting), await at.connect(trusting)
        slow = Client(SlowStream(connected.stream, 50_000))
        at.stage.slices = [FileSlice(descriptor, 0, len(content))]
        async with trio.open_nursery() as nursery:
            await slow.send(FETCH + heartbeat(3))
            nursery.start_soon(ask_until_cancelled, other)
            number, answer = await slow.answer(ApiKey.FETCH, 11)
            assert (number, records_of(answer)) == (2, [content])
            assert (await slow.answer(ApiKey.HEARTBEAT, 4))[0] == 3
            nursery.cancel_scope.cancel()
        assert len(at.stage.begun) > 50


async def ask_until_cancelled(client):
    while True:
        assert await client.heartbeat(1) == 1


async def test_many_clients_at_once(serving, trusting):
    async def ask(number):
        client = await at.connect(trusting)
        for again in range(3):
            assert await client.heartbeat(number + again) == number + again

    async with running(tls=serving) as at:
        async with trio.open_nursery() as nursery:
            for number in range(150):
                nursery.start_soon(ask, number)
        assert at.metric("connections") == 150


@pytest.mark.parametrize("wanted", [ssl.CERT_REQUIRED, ssl.CERT_OPTIONAL])
async def test_a_client_is_who_its_certificate_says(serving, trusting, authority, wanted):
    serving.verify_mode = wanted
    serving.load_verify_locations(authority.certificate)
    trusting.load_cert_chain(authority.issue("client", subject="/C=DE/O=A, B/OU=x/CN=me"))
    async with running(tls=serving) as at:
        assert await (await at.connect(trusting)).heartbeat(1) == 1
        assert at.stage.principals == [r"User:CN=me,OU=x,O=A\, B,C=DE"]


async def test_a_client_without_a_certificate_is_anonymous_where_none_is_required(
    serving, trusting, authority
):
    serving.verify_mode = ssl.CERT_OPTIONAL
    serving.load_verify_locations(authority.certificate)
    async with running(tls=serving) as at:
        assert await (await at.connect(trusting)).heartbeat(1) == 1
        assert at.stage.principals == ["User:ANONYMOUS"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("issued_by", ["nobody", "stranger"])
async def test_a_client_without_the_right_certificate_is_refused(
    serving, trusting, authority, stranger, version, issued_by, caplog
):
    caplog.set_level("INFO")
    serving.verify_mode = ssl.CERT_REQUIRED
    serving.load_verify_locations(authority.certificate)
    trusting.maximum_version = version
    if issued_by == "stranger":
        trusting.load_cert_chain(stranger.issue("client"))
    async with running(tls=serving) as at:
        client = await at.connect(trusting)
        with pytest.raises(trio.BrokenResourceError) as told:
            await client.heartbeat(1)
        # It hears why, and not just that it is gone.
        assert "alert" in str(told.value.__cause__).lower()
        assert at.metric("tls_handshakes_failed_total") == 1
        [line] = [each for each in caplog.records if "handshake failed" in each.getMessage()]
        assert (line.levelname, line.exc_info) == ("INFO", None)
        assert at.metric("connections") == 0
        assert at.stage.begun == []


async def test_a_client_that_does_not_trust_us_disturbs_nobody(serving, trusting):
    async with running(tls=serving) as at:
        other = await at.connect(trusting)
        assert await other.heartbeat(1) == 1
        client = await at.connect(ssl.create_default_context())
        with pytest.raises(trio.BrokenResourceError):
            await client.heartbeat(2)
        assert await other.heartbeat(3) == 3
        assert at.stage.begun == [1, 3]


@pytest.mark.parametrize("noise", [heartbeat(1), b"GET / HTTP/1.0\r\n\r\n", bytes(100), b"\x16"])
async def test_a_client_that_does_not_encrypt_is_closed_at_once(serving, trusting, noise):
    async with running(tls=serving) as at:
        other = await at.connect(trusting)
        assert await other.heartbeat(1) == 1
        plain = await at.connect()
        await plain.send(noise)
        if noise == b"\x16":
            await plain.stream.send_eof()
        assert await plain.is_closed()
        assert await other.heartbeat(2) == 2
        assert at.stage.begun == [1, 2]


async def test_a_client_that_stops_in_the_midst_of_its_handshake_is_closed(
    serving, trusting, monkeypatch
):
    monkeypatch.setattr(connection, "AUTHENTICATION_DEADLINE_S", 0.3)
    monkeypatch.setattr(server, "_SWEEP_S", 0.05)
    hello = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        trusting.wrap_bio(ssl.MemoryBIO(), hello, server_hostname="localhost").do_handshake()
    async with running(tls=serving) as at:
        done = await at.connect(trusting)
        assert await done.heartbeat(1) == 1
        silent, stopped, answered = [await at.connect() for _ in range(3)]
        began = trio.current_time()
        whole = hello.read()
        await stopped.send(whole[:100])
        await answered.send(whole)
        for client in silent, stopped, answered:
            assert await client.is_closed()
        assert 0.25 < trio.current_time() - began < 5
        assert await done.heartbeat(2) == 2


async def test_a_handshake_goes_on_when_a_full_socket_takes_bytes_again(
    authority, trusting, monkeypatch
):
    """A certificate with so many names does not fit into a small socket."""
    names = ("DNS:localhost", *(f"DNS:host-{number}.example" for number in range(2000)))
    context = context_of(authority.issue("large", names=names))
    waits = []
    wait = Poller.serve_when_writable

    def counted(self, descriptor):
        waits.append(descriptor)
        wait(self, descriptor)

    monkeypatch.setattr(Poller, "serve_when_writable", counted)
    async with running(ServerSettings(send_buffer_bytes=1), tls=context) as at:
        sock = trio.socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        address = at.addresses[0]
        await sock.connect((address.host, address.port))
        slow = SlowStream(trio.SocketStream(sock), 400)
        client = Client(trio.SSLStream(slow, trusting, server_hostname="localhost"))
        at.clients.append(client)
        assert await client.heartbeat(1) == 1
        assert waits


def all_answers(address, trusting, requests, ends):
    """Connect, send, close one half, and read to the end; for a thread of its own."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with socket.create_connection((address.host, address.port), timeout=10) as sock:

        def go_on(act):
            while True:
                try:
                    return act()
                except ssl.SSLWantReadError:
                    if outgoing.pending:
                        sock.sendall(outgoing.read())
                    incoming.write(sock.recv(1 << 16))

        go_on(tls.do_handshake)
        tls.write(requests)
        if ends == "tls":
            with pytest.raises(ssl.SSLWantReadError):
                tls.unwrap()  # Says that nothing more will come, and waits for the same.
        sock.sendall(outgoing.read())
        if ends == "tcp":
            sock.shutdown(socket.SHUT_WR)
        received = bytearray()
        try:
            while data := go_on(lambda: tls.read(1 << 16)):
                received += data
        except ssl.SSLZeroReturnError:
            pass  # Both have said that nothing more will come.
        return received


@pytest.mark.parametrize("ends", ["tcp", "tls"])
async def test_a_client_that_closes_its_half_gets_the_answers_to_what_it_sent(
    serving, trusting, ends
):
    requests = heartbeat(1) + FETCH + heartbeat(3)
    async with running(tls=serving) as at:
        at.stage.slices = [bytes(3_000_000)]
        received = await trio.to_thread.run_sync(
            all_answers, at.addresses[0], trusting, requests, ends
        )
        numbers = []
        while received:
            length, number = struct.unpack_from(">ii", received)
            numbers.append(number)
            del received[: 4 + length]
        assert numbers == [1, 2, 3]
        assert at.metric("connections") == 0


async def test_a_client_that_goes_without_a_word_ends_what_waits(serving, trusting):
    async with running(tls=serving) as at:
        client = await at.connect(trusting)
        await client.send(later(1) + exclusive(2) + heartbeat(3))
        await at.stage.until_begun(2)
        await client.stream.transport_stream.aclose()
        with trio.fail_after(10):
            while len(at.stage.cancelled) < 2:
                await trio.sleep(0.001)
        assert at.stage.begun == [1, 2]


async def test_what_a_client_sent_before_it_went_counts(serving, trusting):
    """Its kernel resets the connection, as it does for a client that leaves bytes unread."""
    sent = [random.Random(number).randbytes(9_000) for number in range(9)]
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting.wrap_bio(incoming, outgoing, server_hostname="localhost")
    async with running(tls=serving) as at:
        plain = await at.connect()
        for _ in range(2):
            with suppress(ssl.SSLWantReadError):
                tls.do_handshake()
            await plain.send(outgoing.read())
            if tls.version() is None:
                incoming.write(await plain.stream.receive_some())
        await trio.sleep(0.05)
        for records in sent:
            partition = PartitionProduceData(index=0, records=records)
            topic = TopicProduceData(name="t", partition_data=[partition])
            tls.write(frame_of(ProduceRequest(acks=0, topic_data=[topic]), 9))
        # Both before the server has a turn.
        data = outgoing.read()
        assert os.write(plain.stream.socket.fileno(), data) == len(data)
        plain.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        plain.stream.socket.close()
        with trio.fail_after(10):
            while at.metric("connections"):
                await trio.sleep(0.001)
        assert at.stage.produced == sent


async def test_a_shutdown_sends_what_was_begun_and_says_goodbye(serving, trusting):
    async with running(tls=serving) as at:
        client, silent = await at.connect(trusting), await at.connect()
        await client.send(later(1, 30_000))
        await at.stage.until_begun(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(at.server.shutdown, 10)
            assert await silent.is_closed()
            at.stage.gate(1).set()
            assert struct.unpack_from(">i", await client.frame()) == (1,)
            # An end that TLS itself has announced; without that it is an error.
            assert await client.stream.receive_some() == b""
