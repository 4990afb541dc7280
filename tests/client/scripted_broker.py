"""A peer that answers what a test tells it to: the only way to meet old, broken and silent brokers.

    with ScriptedBroker([answer, answer]) as broker:
        Connection("127.0.0.1", broker.port)

Each step takes the header and the body of the next request and gives the bytes to send; no bytes
mean to hang up. When the script is over the peer hangs up, too. The next connection goes on where
the script stopped.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from kbroker.wire import RequestHeader, decode_request_header, encode_response_frame
from kbroker.wire.message import Response

Step: TypeAlias = Callable[[RequestHeader, bytes], bytes]


class ScriptedBroker:
    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self.requests: list[tuple[int, int]] = []  # API keys and versions, as they came
        self.bodies: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def play(self, *steps: Step) -> "ScriptedBroker":
        """Add steps to the script."""
        self._steps += steps
        return self

    def __enter__(self) -> "ScriptedBroker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                while self._steps and (length := stream.read(4)):
                    frame = stream.read(int.from_bytes(length, "big"))
                    header = decode_request_header(frame, 0, len(frame))
                    self.requests.append((header.api_key, header.api_version))
                    self.bodies.append(frame[header.body :])
                    data = self._steps.pop(0)(header, self.bodies[-1])
                    if not data:
                        break
                    connection.sendall(data)


def answer(response: Response, *, version: int | None = None) -> Step:
    """A step that sends ``response``, at the version of the request unless told otherwise."""

    def step(header: RequestHeader, _: bytes) -> bytes:
        chosen = header.api_version if version is None else version
        return b"".join(encode_response_frame(header.correlation_id, response, chosen))

    return step


def raw(data: bytes) -> Step:
    """A step that sends ``data``."""
    return lambda _header, _body: data
