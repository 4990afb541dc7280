"""A listening socket: opened by name or address, and an accept loop that nothing stops.

`accept` fails for many reasons that are not ours: the client has gone again, the process has no
file descriptors left, the kernel has no memory. None of them may end the loop, and none may make
it spin.
"""

import errno
import socket
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import trio

from kbroker.server.settings import BoundAddress, ListenerSettings, ServerSettings
from kbroker.server.stats import ServerStats
from kbroker.telemetry.log_lines import get_logger

log = get_logger("listeners")

# Long enough that other connections can end and give back their descriptors.
_PAUSE_AFTER_ERROR_S = 0.1
# The listening socket cannot be used any more: we closed it.
_CLOSED = {errno.EBADF, errno.EINVAL, errno.ENOTSOCK}

# Called with each new socket, which it then owns.
Welcome: TypeAlias = Callable[[socket.socket, ListenerSettings], None]
# Waited for before each accept.
WaitForRoom: TypeAlias = Callable[[], Awaitable[None]]


class Listener:
    """One open listening socket."""

    __slots__ = ("_scope", "_sock", "_stats", "address", "settings")

    def __init__(self, settings: ListenerSettings, sock: socket.socket, stats: ServerStats) -> None:
        self.settings = settings
        self._sock = sock
        self._stats = stats
        self._scope = trio.CancelScope()
        host, port = sock.getsockname()[:2]
        self.address = BoundAddress(settings.name, settings.host or host, port)

    @classmethod
    async def open(
        cls, settings: ListenerSettings, server: ServerSettings, stats: ServerStats
    ) -> "Listener":
        """Listen where ``settings`` say; OSError, with the address in it, if that is impossible."""
        where = f"{settings.host}:{settings.port}"
        try:
            family, address = await _resolve(settings.host, settings.port)
        except OSError as error:
            raise OSError(error.errno, f"cannot listen on {where}: {error.strerror}") from error
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # The wildcard of IPv6 takes IPv4 clients too; other addresses are what they are.
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(address[0] != "::"))
            if server.receive_buffer_bytes != -1:
                # Accepted sockets inherit it; later it would be too late for TCP's window.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, server.receive_buffer_bytes)
            sock.bind(address)
            sock.listen(server.listen_backlog)
        except OSError as error:
            sock.close()
            raise OSError(error.errno, f"cannot listen on {where}: {error.strerror}") from error
        return cls(settings, sock, stats)

    async def accept(self, wait_for_room: WaitForRoom, welcome: Welcome) -> None:
        """Accept connections until `close`."""
        with self._scope:
            while True:
                await wait_for_room()
                try:
                    await trio.lowlevel.wait_readable(self._sock)
                    sock, _ = self._sock.accept()
                except BlockingIOError:
                    continue
                except OSError as error:
                    if error.errno in _CLOSED:
                        return
                    self._stats.accept_errors.value += 1
                    log.warning("cannot accept", listener=self.settings.name, error=str(error))
                    await trio.sleep(_PAUSE_AFTER_ERROR_S)
                    continue
                welcome(sock, self.settings)

    def close(self) -> None:
        """Stop listening; connections that were accepted are not touched. May be called again."""
        self._scope.cancel()
        if self._sock.fileno() >= 0:
            trio.lowlevel.notify_closing(self._sock)
            self._sock.close()


async def _resolve(host: str, port: int) -> tuple[int, tuple[str, int]]:
    """The family and address to bind; of a name's addresses the IPv4 one, as Java does."""
    if not host:
        host = "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104 - was asked for
    found = await trio.socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    found.sort(key=lambda each: each[0] != socket.AF_INET)
    family, _, _, _, address = found[0]
    return family, (str(address[0]), int(address[1]))
