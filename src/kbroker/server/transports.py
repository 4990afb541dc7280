"""How a connection's bytes come and go: what it asks of its transport, and a plain socket as one.

A connection never waits. It asks "what do you have now" and "what do you take now", and is called
again by the `Poller` when the answer may have changed. The other transport is `TlsTransport`.
"""

import socket
from typing import Protocol

from kbroker.server.frames import ReceiveBuffer
from kbroker.server.sending import send_parts
from kbroker.wire import Part


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


class Turns(Protocol):
    """Who calls the connections of sockets (see `Poller`)."""

    def serve_soon(self, descriptor: int) -> None:
        """Have a connection served when others have had their turn."""
        ...

    def serve_when_writable(self, descriptor: int) -> None:
        """Have a connection served when its socket, which was full, takes bytes again."""
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
