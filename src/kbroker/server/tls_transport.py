"""A socket that encrypts: OpenSSL over a non-blocking socket, served by the poller as plain ones.

A connection needs no task to be encrypted. It differs from a plain socket in four ways, and all of
them are kept in this file:

* First there is a handshake. It goes on whenever the connection asks for bytes, and gives none
  until it is done. A client that does not come to its end is closed like one that does not say who
  it is (`AUTHENTICATION_DEADLINE_S`).
* One read gives one record of TLS, 16 KiB at the most. `receive` reads until the socket is empty,
  so that a short read means the same as on a plain socket. That is a must: what OpenSSL holds back
  already raises no event.
* To read may mean to write: a part of the handshake, or new keys that a client asked for. If the
  socket is full then, the poller is told to give the connection a turn once it is not.
* Every byte goes through memory. `send` fills the server's send buffer from the parts of an answer
  again and again. What did not leave stays in its parts: when OpenSSL wants the same bytes once
  more, they are read once more, and a client that is slow to read holds no memory.
"""

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from kbroker.server.frames import ReceiveBuffer
from kbroker.server.sending import TURN_BYTES, copy_parts, without
from kbroker.server.transports import Turns
from kbroker.wire import Part

# Four records of TLS: more at once would save calls, but hardly any time.
SEND_BUFFER_BYTES = 1 << 16


class HandshakeFailedError(ConnectionError):
    """The client and we have not come to terms about how to encrypt."""


class TlsTransport:
    """One encrypted TCP connection; ``on_handshake`` is called once, when its handshake is done.

    ``send_buffer`` is shared by all connections of a server: nothing stays in it.
    """

    __slots__ = ("_ended", "_on_handshake", "_send_buffer", "_sock", "_turns")

    def __init__(
        self,
        sock: ssl.SSLSocket,
        turns: Turns,
        send_buffer: memoryview,
        on_handshake: Callable[[ssl.SSLSocket], None],
    ) -> None:
        assert not sock.getblocking()
        self._sock = sock
        self._turns = turns
        self._send_buffer = send_buffer
        # None when the handshake is done.
        self._on_handshake: Callable[[ssl.SSLSocket], None] | None = on_handshake
        self._ended = False

    def receive(self, buffer: ReceiveBuffer) -> int | None:
        """See `Transport`."""
        if self._on_handshake is not None and not self._shake_hands():
            return None
        if self._ended:
            return 0
        room = buffer.room()
        wanted, count = len(room), 0
        try:
            while count < wanted and not self._ended:
                read = self._sock.recv_into(room[count:])
                count += read
                self._ended = not read
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLWantWriteError:
            self._turns.serve_when_writable(self._sock.fileno())
        except OSError:
            # What came before counts, also of a client that is gone.
            self._ended = True
            if not count:
                raise
        if self._ended:
            if not count:
                return 0
            self.serve_soon()  # to tell of the end: TLS has its own, which raises no event
        buffer.received(count)
        return count or None

    def send(self, parts: list[Part]) -> tuple[list[Part], bool]:
        """See `Transport`."""
        budget = TURN_BYTES
        while parts:
            if budget <= 0:
                return parts, False
            part = parts[0]
            if len(parts) == 1 and type(part) is bytes and 0 < len(part) <= SEND_BUFFER_BYTES:
                data: bytes | memoryview = part  # nearly every small answer
            else:
                data = self._send_buffer[: copy_parts(parts, self._send_buffer)]
                if not data:
                    return [], False  # Nothing but empty parts was left.
            try:
                sent = self._sock.send(data)
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                return parts, True
            budget -= sent
            parts = without(parts, sent)
        return [], False

    def serve_soon(self) -> None:
        """See `Transport`."""
        self._turns.serve_soon(self._sock.fileno())

    def close(self) -> None:
        """See `Transport`; only tells the client that nothing more will come."""
        if self._sock.fileno() < 0:
            return
        if self._on_handshake is None:
            # It sends the word, and then wants to wait for that of the client, which we do not.
            with suppress(OSError, ValueError):
                self._sock.unwrap()
        self._turns.remove(self._sock.fileno())
        self._sock.close()

    def _shake_hands(self) -> bool:
        """Go on with the handshake; whether it is done."""
        assert self._on_handshake is not None
        try:
            self._sock.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLWantWriteError:
            self._turns.serve_when_writable(self._sock.fileno())
            return False
        except ssl.SSLEOFError as error:
            raise ConnectionError("the client closed it during the handshake") from error
        except ssl.SSLError as error:
            self._discard_received()
            raise HandshakeFailedError(_reason(error)) from error
        self._on_handshake(self._sock)
        self._on_handshake = None
        return True

    def _discard_received(self) -> None:
        """Throw away what came: a socket closed with bytes in it resets the connection.

        The client would then see that reset, and not what OpenSSL has just told it about the
        handshake.
        """
        with suppress(OSError):
            socket.socket.recv(self._sock, SEND_BUFFER_BYTES)


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or "unknown").replace("_", " ").lower()
