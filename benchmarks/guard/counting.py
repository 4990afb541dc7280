"""A real broker on a real socket that counts the calls of its thread, Python's and C's.

The broker's thread is asked by `sys.setprofile` to report every call. A request is counted from one
moment of rest to the next: whether the broker finds the next request before it goes to sleep is a
matter of luck, and luck is no figure. A timer that falls due meanwhile adds calls, and on a busy
machine a broker that is not let run looks as if it rested, so the median of several is taken.
"""

import socket
import statistics
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

from kbroker.testing import Broker

# A broker that makes no call for so long waits for its sockets.
_REST_S = 0.004
_REPEATS = 15
_TIMEOUT_S = 30.0


class CountingBroker:
    """A broker with one connection to it, whose requests can be counted."""

    def __init__(self) -> None:
        self._broker = Broker()
        self._calls = 0

    def __enter__(self) -> Self:
        # Threads that are started meanwhile report their calls; we want the broker's, none else.
        threading.setprofile(self._on_event)
        try:
            self._broker.start()
        finally:
            threading.setprofile(None)
        address = (self._broker.host, self._broker.port)
        self._socket = socket.create_connection(address, timeout=_TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rb")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()
        self._socket.close()
        self._broker.stop()

    @property
    def bootstrap(self) -> str:
        """The address for clients."""
        return self._broker.bootstrap

    def ask(self, frame: bytes) -> bytes:
        """The answer to one request, without its length."""
        self._socket.sendall(frame)
        return self._receive()

    def calls(self, next_frame: Callable[[], bytes], *, at_once: int = 1) -> float:
        """How many calls one request costs, if ``at_once`` of them arrive together."""
        counts = [self._count(next_frame, at_once) for _ in range(_REPEATS)]
        return statistics.median_low(counts) / at_once

    def _count(self, next_frame: Callable[[], bytes], at_once: int) -> int:
        data = b"".join(next_frame() for _ in range(at_once))
        before = self._calls_at_rest()
        self._socket.sendall(data)
        for _ in range(at_once):
            self._receive()
        return self._calls_at_rest() - before

    def _calls_at_rest(self) -> int:
        """The count when nothing has been added to it for a while."""
        seen = -1
        while seen != self._calls:
            seen = self._calls
            time.sleep(_REST_S)
        return seen

    def _receive(self) -> bytes:
        size = int.from_bytes(self._stream.read(4), "big")
        body = self._stream.read(size)
        assert len(body) == size, "the broker closed the connection"
        return body

    def _on_event(self, _frame: FrameType, event: str, _argument: object) -> None:
        if event in {"call", "c_call"}:
            self._calls += 1
