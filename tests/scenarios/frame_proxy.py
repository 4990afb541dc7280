"""A network that delivers requests late and twice: a proxy that knows where a frame begins.

Clients connect to the proxy, which passes frames on to the broker, and answers back. For the APIs
it is told to watch, it can

    keep     a copy of each request, which is passed on all the same
    hold     the next request back: it is kept, not passed on, and the connection is broken, so
             that the client tries again on another one

and `deliver` sends what was kept to the broker, as if it had been on its way all the time.
"""

import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self

from kbroker.wire import ApiKey

_LENGTH_BYTES = 4
_TIMEOUT_S = 10.0


class Kept(NamedTuple):
    """A request as it came, with its length."""

    api_key: ApiKey
    frame: bytes


class FrameProxy:
    """Listens from the start; the broker may come later, with the proxy's address as its own."""

    def __init__(self) -> None:
        self.kept: list[Kept] = []
        self._keeping: frozenset[ApiKey] = frozenset()
        self._holding: set[ApiKey] = set()
        self._upstream: tuple[str, int] | None = None
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _close(self._listener)
        for each in self._sockets:
            _close(each)
        for thread in self._threads:
            thread.join()

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def connect_to(self, host: str, port: int) -> None:
        """Pass everything on to this broker."""
        self._upstream = (host, port)

    def keep(self, api_keys: Iterable[ApiKey]) -> None:
        """Keep copies of these requests from now on, and of no others."""
        self._keeping = frozenset(api_keys)

    def hold(self, *api_keys: ApiKey) -> None:
        """Hold the next request of each of these back."""
        with self._lock:
            self._holding.update(api_keys)

    def deliver(self) -> list[tuple[ApiKey, bytes]]:
        """Send all that was kept to the broker, each on a connection of its own; the answers."""
        assert self._upstream is not None
        kept, self.kept = self.kept, []
        answers = []
        for api_key, frame in kept:
            with socket.create_connection(self._upstream, _TIMEOUT_S) as connection:
                connection.sendall(frame)
                answer = _read_frame(connection)
            assert answer is not None, f"the broker hung up on a late {api_key.name}"
            answers.append((api_key, answer))
        return answers

    # --- threads -------------------------------------------------------------------

    def _start(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, name="proxy")
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                assert self._upstream is not None
                broker = socket.create_connection(self._upstream, _TIMEOUT_S)
                broker.settimeout(None)
                self._sockets += [client, broker]
                self._start(self._pass_requests, client, broker)
                self._start(_pass_answers, broker, client)

    def _pass_requests(self, client: socket.socket, broker: socket.socket) -> None:
        with suppress(OSError):
            while (frame := _read_frame(client)) is not None:
                if self._is_held(frame):
                    break
                broker.sendall(frame)
        _close(client)
        _close(broker)

    def _is_held(self, frame: bytes) -> bool:
        api_key = ApiKey(int.from_bytes(frame[_LENGTH_BYTES : _LENGTH_BYTES + 2]))
        with self._lock:
            is_held = api_key in self._holding
            self._holding.discard(api_key)
        if is_held or api_key in self._keeping:
            self.kept.append(Kept(api_key, frame))
        return is_held


def _pass_answers(broker: socket.socket, client: socket.socket) -> None:
    with suppress(OSError):
        while data := broker.recv(1 << 16):
            client.sendall(data)
    _close(client)


def _read_frame(source: socket.socket) -> bytes | None:
    """The next frame with its length, or None at the end."""
    data = b""
    wanted = _LENGTH_BYTES
    while len(data) < wanted:
        more = source.recv(wanted - len(data))
        if not more:
            return None
        data += more
        if len(data) == _LENGTH_BYTES:
            wanted = _LENGTH_BYTES + int.from_bytes(data)
    return data


def _close(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
