"""How a connection's bytes come and go: a plain socket, or a stream that encrypts them.

Both kinds answer two questions at once ("what do you have now, what do you take now") without
waiting, because that is what a busy connection needs: the loop is asked to wait only when there
is nothing to do. A plain socket answers them from the kernel, and sends files with sendfile. A
stream (TLS) always has to be waited for, and files are read first.
"""

import socket
from typing import Protocol

import trio

from kbroker.server.frames import ReceiveBuffer
from kbroker.server.sending import read_parts, send_parts
from kbroker.wire import Part

# A TLS record holds 16 KiB; this takes a few of them.
_RECEIVE_BYTES = 1 << 16


class Transport(Protocol):
    """One connection's way to its client.

    At most one task receives and at most one task sends at a time. Errors of the network are
    OSErrors; after one of them, or a cancelled `send`, the transport can only be closed.
    """

    def receive_now(self, buffer: ReceiveBuffer) -> int | None:
        """Receive without waiting: how many bytes, 0 at the end, None if there are none yet."""
        ...

    async def receive(self, buffer: ReceiveBuffer) -> int:
        """Wait for at least one byte (how many) or the end (0); always gives others a turn.

        Cancelled, it has received nothing. The buffer may release its memory meanwhile.
        """
        ...

    def send_now(self, parts: list[Part]) -> list[Part]:
        """Send without waiting; give back what is left."""
        ...

    async def send(self, parts: list[Part]) -> None:
        """Send all, waiting as long as it takes."""
        ...

    async def aclose(self) -> None:
        """Close at once, without farewell; may be called again."""
        ...


class SocketTransport:
    """A plain TCP socket."""

    __slots__ = ("_sock",)

    def __init__(self, sock: socket.socket) -> None:
        assert not sock.getblocking()
        self._sock = sock

    def receive_now(self, buffer: ReceiveBuffer) -> int | None:
        """See `Transport`."""
        try:
            count = self._sock.recv_into(buffer.room())
        except BlockingIOError:
            return None
        buffer.received(count)
        return count

    async def receive(self, buffer: ReceiveBuffer) -> int:
        """See `Transport`."""
        while True:
            await trio.lowlevel.wait_readable(self._sock)
            count = self.receive_now(buffer)
            if count is not None:  # Epoll may wake a task for nothing.
                return count

    def send_now(self, parts: list[Part]) -> list[Part]:
        """See `Transport`."""
        if len(parts) == 1 and type(part := parts[0]) is bytes:
            # Nearly every small answer.
            try:
                sent = self._sock.send(part)
            except BlockingIOError:
                return parts
            return [] if sent == len(part) else [memoryview(part)[sent:]]
        return send_parts(self._sock, parts)

    async def send(self, parts: list[Part]) -> None:
        """See `Transport`."""
        left = send_parts(self._sock, parts)
        while left:
            await trio.lowlevel.wait_writable(self._sock)
            left = send_parts(self._sock, left)

    async def aclose(self) -> None:
        """See `Transport`."""
        if self._sock.fileno() >= 0:
            trio.lowlevel.notify_closing(self._sock)
            self._sock.close()


class StreamTransport:
    """Any stream of trio's, for instance a `trio.SSLStream`."""

    __slots__ = ("_stream",)

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream

    def receive_now(self, buffer: ReceiveBuffer) -> int | None:  # noqa: ARG002 - see below
        """See `Transport`; only waiting brings bytes."""
        return None

    async def receive(self, buffer: ReceiveBuffer) -> int:
        """See `Transport`."""
        try:
            data = memoryview(await self._stream.receive_some(_RECEIVE_BYTES))
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise ConnectionError(str(error) or "the stream broke") from error
        taken = 0
        while taken < len(data):
            room = buffer.room()
            count = min(len(room), len(data) - taken)
            room[:count] = data[taken : taken + count]
            buffer.received(count)
            taken += count
        return taken

    def send_now(self, parts: list[Part]) -> list[Part]:
        """See `Transport`; only waiting sends bytes."""
        return parts

    async def send(self, parts: list[Part]) -> None:
        """See `Transport`."""
        try:
            for part in read_parts(parts):
                await self._stream.send_all(part)  # type: ignore[arg-type]  # no slices any more
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise ConnectionError(str(error) or "the stream broke") from error

    async def aclose(self) -> None:
        """See `Transport`."""
        await trio.aclose_forcefully(self._stream)
