"""The server: all listeners and all connections of one broker, from start to shutdown.

    nursery
      accept loop of each listener     admits a socket and makes its connection
      poller                           serves all connections, see `kbroker.server.poller`
      requests that must be waited for
      sweep                            closes what is idle

There is no timer per connection or request. A sweep every few seconds looks at all connections,
which costs microseconds for each, and is as exact as an idle timeout of minutes needs.
"""

import math
import socket
import ssl
from functools import partial
from itertools import count

import trio

from kbroker.broker.requests import ConnectionInfo
from kbroker.server.admission import Admission
from kbroker.server.connection import Connection, Surroundings
from kbroker.server.dispatch import Dispatcher
from kbroker.server.listener import Listener
from kbroker.server.poller import Poller
from kbroker.server.settings import BoundAddress, ListenerSettings, ServerSettings
from kbroker.server.stats import ServerStats
from kbroker.server.tls import principal_of
from kbroker.server.tls_transport import SEND_BUFFER_BYTES, TlsTransport
from kbroker.server.transports import SocketTransport, Transport
from kbroker.telemetry import Registry
from kbroker.telemetry.log_lines import get_logger

log = get_logger("server")

# An idle connection gives its memory back after at most two sweeps.
_SWEEP_S = 5.0


class Server:
    """Accepts connections on all listeners and serves them with one dispatcher."""

    def __init__(
        self,
        listeners: list[ListenerSettings],
        dispatcher: Dispatcher,
        registry: Registry,
        settings: ServerSettings | None = None,
    ) -> None:
        self._listener_settings = listeners
        self._dispatcher = dispatcher
        self._settings = settings or ServerSettings()
        self.stats = ServerStats(registry)
        self._admission = Admission(self._settings)
        self._listeners: list[Listener] = []
        self._connections: set[Connection] = set()
        self._numbers = count()
        self._nursery: trio.Nursery | None = None
        # Until it runs there are none.
        self._poller: Poller | None = None
        self._around: Surroundings | None = None
        # What encrypted connections send from, one after the other.
        self._send_buffer = memoryview(bytearray(SEND_BUFFER_BYTES))
        # Replaced each time a connection ends; set for those who wait for that.
        self._one_ended = trio.Event()

    async def open(self) -> list[BoundAddress]:
        """Open all listeners, so that clients can connect and wait; gives where they listen.

        OSError if one cannot be opened; nothing stays open then.
        """
        try:
            for settings in self._listener_settings:
                listener = await Listener.open(settings, self._settings, self.stats)
                self._listeners.append(listener)
        except OSError:
            self.stop_listening()
            raise
        return [listener.address for listener in self._listeners]

    async def run(
        self, *, task_status: trio.TaskStatus[list[BoundAddress]] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve until `shutdown`; reports where it listens once clients are served.

        Opens the listeners if nobody has; OSError as in `open`.
        """
        addresses = [each.address for each in self._listeners] or await self.open()
        self._poller = Poller()
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                self._around = Surroundings(
                    self._dispatcher, self._settings, self.stats, nursery, self._on_closed
                )
                nursery.start_soon(self._poller.run)
                for listener in self._listeners:
                    nursery.start_soon(listener.accept, self._wait_for_room, self._welcome)
                nursery.start_soon(self._sweep)
                for address in addresses:
                    log.info(
                        "listening",
                        listener=address.listener,
                        host=address.host,
                        port=address.port,
                    )
                task_status.started(addresses)
        finally:
            self.stop_listening()
            for connection in tuple(self._connections):
                connection.close("the server stops")
            self._poller.close()

    async def shutdown(self, drain_s: float) -> None:
        """Stop accepting, let requests that were begun finish for ``drain_s``, then close all."""
        self.stop_listening()
        for connection in tuple(self._connections):
            connection.drain()
        with trio.move_on_after(drain_s):
            while self._connections:
                await self._one_ended.wait()
        if self._connections:
            log.warning("connections cut off", connections=len(self._connections))
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()

    def stop_listening(self) -> None:
        """Close all listeners; connections stay."""
        for listener in self._listeners:
            listener.close()

    async def _wait_for_room(self) -> None:
        while not self._admission.has_room():
            await self._one_ended.wait()
        pause_s = self._admission.pause_s(trio.current_time())
        if pause_s:
            await trio.sleep(pause_s)

    def _welcome(self, sock: socket.socket, listener: ListenerSettings) -> None:
        """Make the connection of a new socket, or close it if its address has too many."""
        assert self._around is not None
        assert self._poller is not None
        try:
            host, port = _address(sock.getpeername())
            local_host, local_port = _address(sock.getsockname())
            self._set_options(sock)
            if listener.tls is not None:
                sock = listener.tls.wrap_socket(
                    sock, server_side=True, do_handshake_on_connect=False
                )
        except OSError:
            sock.close()  # It has gone already.
            return
        if not self._admission.enter(host, trio.current_time()):
            self.stats.refused.value += 1
            log.info("connection refused: too many from its address", peer=host)
            sock.close()
            return
        local, peer = f"{local_host}:{local_port}", f"{host}:{port}"
        info = ConnectionInfo(
            connection_id=f"{local}-{peer}-{next(self._numbers)}",
            listener=listener.name,
            peer_host=host,
            peer_port=port,
            authenticated=not listener.needs_authentication and listener.tls is None,
        )
        transport: Transport
        if isinstance(sock, ssl.SSLSocket):
            introduce = partial(_introduce, info, listener)
            transport = TlsTransport(sock, self._poller, self._send_buffer, introduce)
        else:
            transport = SocketTransport(sock, self._poller)
        connection = Connection(info, transport, self._around, trio.current_time())
        self.stats.accepted.value += 1
        self.stats.open.value += 1
        self._connections.add(connection)
        self._poller.add(sock.fileno(), connection)

    def _set_options(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if self._settings.send_buffer_bytes != -1:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._settings.send_buffer_bytes)

    def _on_closed(self, connection: Connection) -> None:
        self.stats.open.value -= 1
        self._connections.discard(connection)
        self._admission.leave(connection.info.peer_host)
        self._one_ended.set()
        self._one_ended = trio.Event()

    async def _sweep(self) -> None:
        max_idle_s = self._settings.max_idle_ms / 1000
        if max_idle_s < 0:
            max_idle_s = math.inf
        # Often enough that a timeout is at most a tenth late.
        every_s = max(0.01, min(_SWEEP_S, max_idle_s / 10))
        while True:
            await trio.sleep(every_s)
            now = trio.current_time()
            for connection in tuple(self._connections):
                connection.sweep(now, max_idle_s)


def _introduce(info: ConnectionInfo, listener: ListenerSettings, sock: ssl.SSLSocket) -> None:
    """The handshake of a connection is done: its client is who its certificate says."""
    info.principal = principal_of(sock) or info.principal
    info.authenticated = not listener.needs_authentication


def _address(name: tuple[str, int]) -> tuple[str, int]:
    """The host and port of a socket's name.

    An IPv4 client of an IPv6 socket goes by its IPv4 address, as in Java: ACLs and quotas name it.
    """
    host, port = name[:2]
    return host.removeprefix("::ffff:") if "." in host else host, port
