"""A real server on a real socket, with handlers that do what a test wants."""

import struct
from contextlib import asynccontextmanager
from types import SimpleNamespace

import trio

from kbroker.handlers.table import Served
from kbroker.server import Dispatcher, ListenerSettings, Server, ServerSettings
from kbroker.telemetry import Registry
from kbroker.wire import ApiKey, response_class
from kbroker.wire.headers import decode_response, encode_request_frame
from kbroker.wire.messages.heartbeat import HeartbeatRequest
from kbroker.wire.messages.join_group import JoinGroupRequest
from kbroker.wire.messages.leave_group import LeaveGroupRequest
from kbroker.wire.messages.sync_group import SyncGroupRequest

_ACTING = {
    ApiKey.PRODUCE: ("produce", 0, 13),
    ApiKey.FETCH: ("fetch", 4, 12),
    ApiKey.METADATA: ("failing", 0, 13),
    ApiKey.JOIN_GROUP: ("join_group", 0, 9),
    ApiKey.HEARTBEAT: ("heartbeat", 0, 4),
    ApiKey.LEAVE_GROUP: ("leave_group", 0, 5),
    ApiKey.SYNC_GROUP: ("sync_group", 0, 5),
    ApiKey.LIST_GROUPS: ("failing", 0, 5),
}
TABLE = {
    key: Served(key, f"tests.server.acting.{module}", lowest, highest)
    for key, (module, lowest, highest) in _ACTING.items()
} | {ApiKey.API_VERSIONS: Served(ApiKey.API_VERSIONS, "kbroker.handlers.api_versions", 0, 5)}


class Stage:
    """What the acting handlers see as their broker."""

    def __init__(self):
        self.cluster_id = "a-cluster"
        self.node_id = 3
        self.begun = []
        self.peers = set()
        self.principals = []
        self.cancelled = []
        self.produced = []
        self.slices = []
        self.wakes = {}
        self.news = {}
        self._gates = {}

    def gate(self, number):
        return self._gates.setdefault(number, trio.Event())

    def tell(self, number, news=""):
        """Let the polled request of this number have its answer."""
        self.news[number] = news
        self.wakes[number]()

    def features_image(self):
        return SimpleNamespace(
            supported=[("metadata.version", 7, 30), ("group.version", 0, 1)],
            finalized=[("metadata.version", 30), ("group.version", 0)],
            epoch=12,
        )

    async def until_begun(self, count):
        """Wait until ``count`` requests were begun."""
        with trio.fail_after(10):
            while len(self.begun) < count:
                await trio.sleep(0.001)


class Client:
    """Speaks frames; every wait has an end."""

    def __init__(self, stream):
        self.stream = stream
        self._received = bytearray()

    async def send(self, data):
        with trio.fail_after(10):
            await self.stream.send_all(data)

    async def frame(self):
        """The next answer without its length."""
        head = await self._exactly(4)
        return await self._exactly(struct.unpack(">i", head)[0])

    async def answer(self, key, version):
        """The next answer's correlation id and message."""
        frame = await self.frame()
        return decode_response(response_class(key), version, frame, 0, len(frame))

    async def ask(self, request, version, correlation_id=1):
        await self.send(frame_of(request, version, correlation_id))
        found, message = await self.answer(request.api_key, version)
        assert found == correlation_id
        return message

    async def heartbeat(self, number):
        return (await self.ask(HeartbeatRequest(generation_id=number), 4)).throttle_time_ms

    async def is_closed(self):
        """Whether the server hangs up; what it sends before is thrown away."""
        with trio.fail_after(10):
            try:
                while await self.stream.receive_some():
                    pass
            except trio.BrokenResourceError:
                pass
        return True

    async def _exactly(self, count):
        with trio.fail_after(20):
            while len(self._received) < count:
                data = await self.stream.receive_some(1 << 20)
                assert data, "the server hung up"
                self._received += data
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken


def frame_of(request, version, correlation_id=1, client_id="tests"):
    parts = encode_request_frame(correlation_id, client_id, request, version)
    return b"".join(map(bytes, parts))


def heartbeat(number):
    return frame_of(HeartbeatRequest(generation_id=number), 4, number)


def later(number, answer_bytes=1):
    request = SyncGroupRequest(group_id="g" * answer_bytes, generation_id=number)
    return frame_of(request, 5, number)


def polled(number):
    return frame_of(JoinGroupRequest(session_timeout_ms=number), 5, number)


def exclusive(number):
    return frame_of(LeaveGroupRequest(group_id=str(number)), 5, number)


class Running:
    """A server that runs, and its stage."""

    def __init__(self, server, stage, addresses, registry):
        self.server, self.stage = server, stage
        self.addresses, self.registry = addresses, registry
        self.clients = []

    async def connect(self, tls=None):
        """A new client; one that encrypts, if it is told how."""
        address = self.addresses[0]
        stream = await trio.open_tcp_stream(address.host, address.port)
        if tls is not None:
            stream = trio.SSLStream(stream, tls, server_hostname="localhost")
        client = Client(stream)
        self.clients.append(client)
        return client

    def metric(self, name, **labels):
        wanted = tuple(sorted(labels.items()))
        values = [s.value for s in self.registry.samples() if (s.name, s.labels) == (name, wanted)]
        assert len(values) == 1
        return values[0]


@asynccontextmanager
async def running(settings=None, *, needs_authentication=False, host="127.0.0.1", tls=None):
    stage, registry = Stage(), Registry()
    listener = ListenerSettings("A", host, 0, needs_authentication, tls)
    server = Server(
        [listener], Dispatcher(TABLE, stage, registry), registry, settings or ServerSettings()
    )
    async with trio.open_nursery() as nursery:
        addresses = await nursery.start(server.run)
        at = Running(server, stage, addresses, registry)
        yield at
        await server.shutdown(0)
        for client in at.clients:
            await trio.aclose_forcefully(client.stream)
