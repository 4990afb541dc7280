"""How a connection's bytes come and go: a plain socket, or a stream that encrypts them.

A connection never waits. It asks "what do you have now" and "what do you take now", and is called
again when the answer may have changed. Who calls it depends on the transport:

    plain socket    the `Poller`, which watches all sockets at once
    stream (TLS)    tasks of its own, because a stream can only be waited for
"""

import socket
from typing import Protocol

import trio

from kbroker.server.frames import ReceiveBuffer
from kbroker.server.sending import FileTruncatedError, read_parts, send_parts
from kbroker.wire import Part

# A TLS record holds 16 KiB; this takes a few of them. It is also how much of a stream is received
# while its connection takes nothing, only to notice that the client has gone.
_RECEIVE_BYTES = 1 << 16


class Transport(Protocol):
    """One connection's way to its client.

    Errors of the network are OSErrors; after one of them a transport can only be closed.
    """

    def receive(self, buffer: ReceiveBuffer) -> int | None:
        """Receive without waiting: how many bytes, 0 at the end, None if there are none yet."""
        ...

    def send(self, parts: list[Part]) -> tuple[list[Part], bool]:
        """Send without waiting; gives what is left, and whether to wait for `on_writable`.

        Nothing more may be sent before that call. If something is left and there is nothing to
        wait for, others shall have their turn first.
        """
        ...

    def serve_soon(self) -> None:
        """Have the connection served again when others have had their turn."""
        ...

    def close(self) -> None:
        """Close at once, without farewell; may be called again."""
        ...


class Served(Protocol):
    """A connection, as those see it who call it."""

    blocked: bool  # whether it waits for `on_writable`

    def serve(self, now: float) -> None:
        """Bytes may have come, or it is the connection's turn again."""
        ...

    def on_writable(self, now: float) -> None:
        """The transport takes bytes again."""
        ...

    def on_hangup(self, now: float) -> None:
        """The client sends nothing more; what it sent before may still be there."""
        ...

    def end(self, error: Exception) -> None:
        """The transport is broken; does nothing if the connection is closed already."""
        ...


class Turns(Protocol):
    """Who calls the connections of sockets (see `Poller`)."""

    def serve_soon(self, descriptor: int) -> None:
        """Have a connection served when others have had their turn."""
        ...

    def remove(self, descriptor: int) -> None:
        """Forget a socket that is about to be closed."""
        ...


class SocketTransport:
    """A plain TCP socket."""

    __slots__ = ("_sock", "_turns")

    def __init__(self, sock: socket.socket, turns: Turns) -> None:
        assert not sock.getblocking()
        self._sock = sock
        self._turns = turns

    def receive(self, buffer: ReceiveBuffer) -> int | None:
        """See `Transport`."""
        try:
            count = self._sock.recv_into(buffer.room())
        except BlockingIOError:
            return None
        buffer.received(count)
        return count

    def send(self, parts: list[Part]) -> tuple[list[Part], bool]:
        """See `Transport`."""
        if len(parts) == 1 and type(part := parts[0]) is bytes:
            # Nearly every small answer.
            try:
                sent = self._sock.send(part)
            except BlockingIOError:
                return parts, True
            if sent == len(part):
                return [], False
            parts = [memoryview(part)[sent:]]
        return send_parts(self._sock, parts)

    def serve_soon(self) -> None:
        """See `Transport`."""
        self._turns.serve_soon(self._sock.fileno())

    def close(self) -> None:
        """See `Transport`."""
        if self._sock.fileno() >= 0:
            self._turns.remove(self._sock.fileno())
            self._sock.close()


class StreamTransport:
    """Any stream of trio's, for instance a `trio.SSLStream`, and the tasks that wait for it."""

    __slots__ = ("_ended", "_outgoing", "_received", "_scope", "_stream", "_turn_wanted", "_woken")

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._received = bytearray()  # and not taken yet; about `_RECEIVE_BYTES` at the most
        self._ended = False
        self._outgoing: list[Part] = []
        self._turn_wanted = False
        self._scope = trio.CancelScope()
        # Set and replaced when one of the above changes; each task knows what it waits for.
        self._woken = trio.Event()

    async def run(self, served: Served) -> None:
        """Serve a connection until it is closed, and close the stream; may be cancelled."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._receive_all, served)
                    nursery.start_soon(self._send_all, served)
                    nursery.start_soon(self._take_turns, served)
        finally:
            served.end(ConnectionError("the server stops"))
            await trio.aclose_forcefully(self._stream)

    def receive(self, buffer: ReceiveBuffer) -> int | None:
        """See `Transport`."""
        if not self._received:
            return 0 if self._ended else None
        room = buffer.room()
        count = min(len(room), len(self._received))
        room[:count] = self._received[:count]
        del self._received[:count]
        buffer.received(count)
        self._wake()
        return count

    def send(self, parts: list[Part]) -> tuple[list[Part], bool]:
        """See `Transport`; takes all, but wants nothing more until that is sent."""
        assert not self._outgoing
        self._outgoing = parts
        self._wake()
        return [], True

    def serve_soon(self) -> None:
        """See `Transport`."""
        self._turn_wanted = True
        self._wake()

    def close(self) -> None:
        """See `Transport`."""
        self._scope.cancel()

    async def _receive_all(self, served: Served) -> None:
        while True:
            try:
                data = await self._stream.receive_some(_RECEIVE_BYTES)
            except _BROKEN as error:
                served.end(_as_os_error(error))
                return
            if not data:
                self._ended = True
                served.on_hangup(trio.current_time())
                return
            self._received += data
            served.serve(trio.current_time())
            while len(self._received) >= _RECEIVE_BYTES:
                await self._woken.wait()

    async def _send_all(self, served: Served) -> None:
        while True:
            while not self._outgoing:
                await self._woken.wait()
            try:
                for part in read_parts(self._outgoing):
                    await self._stream.send_all(part)  # type: ignore[arg-type]  # no slices
            except _BROKEN as error:
                served.end(_as_os_error(error))
                return
            except FileTruncatedError as error:
                served.end(error)
                return
            self._outgoing = []
            served.on_writable(trio.current_time())

    async def _take_turns(self, served: Served) -> None:
        while True:
            while not self._turn_wanted:
                await self._woken.wait()
            self._turn_wanted = False
            served.serve(trio.current_time())
            await trio.lowlevel.checkpoint()

    def _wake(self) -> None:
        self._woken.set()
        self._woken = trio.Event()


_BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError)


def _as_os_error(error: Exception) -> OSError:
    return ConnectionError(str(error) or "the stream broke")
