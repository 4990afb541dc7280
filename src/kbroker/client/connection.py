"""One socket to one broker, blocking: a request goes out, its answer comes back.

For commands, `ask` does everything: it finds out on first use what the broker speaks (ApiVersions),
takes the newest version both know, and waits for the answer. For tests, the steps are there one by
one: `send` and `receive` for pipelining, a version of the caller's choice, `send_raw` and
`receive_frame` for bytes that are no request at all.

Answers come in the order of the requests. Whatever goes wrong on the socket closes it: after half
a frame nobody knows where the next one begins. There is no background thread; a broker that dies
is noticed by whoever waits for it, at the latest after ``timeout_s``.
"""

import socket
import time
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import NamedTuple, Self, TypeVar, cast

from kbroker.client.bootstrap import Address
from kbroker.client.errors import BadAnswer, ConnectionFailed, UnsupportedByBroker, raise_refusal
from kbroker.wire import ApiKey, ErrorCode, ProtocolError, api_spec, response_class
from kbroker.wire.headers import FRAME_LENGTH_BYTES, decode_response, encode_request_frame
from kbroker.wire.message import Request, Response
from kbroker.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kbroker.wire.versions import VersionRange

R = TypeVar("R", bound=Response)

# Fetch answers have up to 50 MB by default and exceed it for one large batch; a length beyond this
# is no answer but something else that listens on the port.
MAX_FRAME_BYTES = 256 * 1024 * 1024
# The first version that names the client; brokers since 2.4 know it, and newer ones tell us
# nothing that we need.
_API_VERSIONS_VERSION = 3
_RECEIVE_BYTES = 256 * 1024
_MAX_CORRELATION_ID = 2**31 - 1


class _Expected(NamedTuple):
    """An answer that is still to come."""

    correlation_id: int
    api_key: int
    version: int


class Connection:
    """A connection that is open from the start; ConnectionFailed if it cannot be.

    ``timeout_s`` bounds connecting, and each wait for an answer.
    """

    def __init__(
        self, host: str, port: int, client_id: str | None = "kbroker", timeout_s: float = 30.0
    ) -> None:
        self.address = Address(host, port)
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._expected: deque[_Expected] = deque()
        self._last_correlation_id = 0
        self._versions: dict[int, VersionRange] | None = None
        self._received = bytearray()
        try:
            self._socket: socket.socket | None = socket.create_connection((host, port), timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, UnicodeError) as error:  # UnicodeError: no host can have this name
            raise ConnectionFailed(f"cannot connect to {self.address}: {_words(error)}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether neither side has been seen to close the connection."""
        return self._socket is not None

    @property
    def in_flight(self) -> int:
        """How many answers are still to come."""
        return len(self._expected)

    def close(self) -> None:
        """Close the socket; answers that are still to come are lost."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._expected.clear()

    # Whole requests

    def ask(
        self, message: Request, answer: type[R], *, version: int | None = None, newest: int = 32767
    ) -> R:
        """The answer to ``message``, whose class is ``answer``.

        Without ``version`` it is the newest one up to ``newest`` that both sides know.
        """
        if version is None:
            version = self.version_of(type(message), newest=newest)
        response = self.request(message, version)
        assert isinstance(response, answer), "the caller named another class"
        return response

    def request(self, message: Request, version: int | None = None) -> Response:
        """The answer to ``message``; all answers before it must have been received."""
        assert not self._expected, "earlier answers are still to come"
        self.send(message, version)
        return self.receive()

    def pipeline(self, messages: Iterable[Request], version: int | None = None) -> list[Response]:
        """The answers to ``messages``, all of which are sent before the first answer is read."""
        sent = [self.send(message, version) for message in messages]
        return [self.receive() for _ in sent]

    def send(self, message: Request, version: int | None = None, *, answered: bool = True) -> int:
        """Send ``message`` without waiting; gives its correlation id.

        A Produce request with acks=0 gets no answer: say so with ``answered=False``.
        """
        if version is None:
            version = self.version_of(type(message))
        correlation_id = self._next_correlation_id()
        parts = encode_request_frame(correlation_id, self._client_id, message, version)
        self.send_raw(b"".join(cast(list[bytes], parts)))
        if answered:
            self._expected.append(_Expected(correlation_id, message.api_key, version))
        return correlation_id

    def receive(self) -> Response:
        """The next answer; BadAnswer if it is not the answer to the oldest request in flight."""
        assert self._expected, "no answer is to come"
        frame = self.receive_frame()
        expected = self._expected.popleft()
        return self._decode(frame, expected, response_class(expected.api_key))

    # Bytes

    def send_raw(self, data: bytes) -> None:
        """Send ``data`` as it is; ConnectionFailed if the broker does not take it in time."""
        if self._socket is None:
            raise ConnectionFailed(f"the connection to {self.address} is closed")
        try:
            self._socket.settimeout(self._timeout_s)
            self._socket.sendall(data)
        except OSError as error:
            self.close()
            raise ConnectionFailed(f"cannot send to {self.address}: {_words(error)}") from error

    def receive_frame(self) -> bytes:
        """The next frame without its length; BadAnswer if it claims to be beyond all measure."""
        deadline = time.monotonic() + self._timeout_s
        self._fill(FRAME_LENGTH_BYTES, deadline)
        length = int.from_bytes(self._received[:FRAME_LENGTH_BYTES], "big", signed=True)
        if not 0 <= length <= MAX_FRAME_BYTES:
            self.close()
            raise BadAnswer(f"{self.address} does not speak Kafka: a frame of {length} bytes")
        end = FRAME_LENGTH_BYTES + length
        self._fill(end, deadline)
        frame = bytes(memoryview(self._received)[FRAME_LENGTH_BYTES:end])
        del self._received[:end]
        return frame

    def _fill(self, count: int, deadline: float) -> None:
        """Receive until ``count`` bytes are there; memory grows with what really arrives."""
        while len(self._received) < count:
            if self._socket is None:
                raise ConnectionFailed(f"the connection to {self.address} is closed")
            try:
                remaining_s = deadline - time.monotonic()
                if remaining_s <= 0:
                    raise TimeoutError
                self._socket.settimeout(remaining_s)
                data = self._socket.recv(_RECEIVE_BYTES)
            except TimeoutError:
                self.close()
                raise ConnectionFailed(
                    f"{self.address} did not answer within {self._timeout_s:g} s"
                ) from None
            except OSError as error:
                self.close()
                raise ConnectionFailed(f"lost {self.address}: {_words(error)}") from error
            if not data:
                self.close()
                raise ConnectionFailed(f"{self.address} closed the connection")
            self._received += data

    # Versions

    def versions(self) -> dict[int, VersionRange]:
        """What the broker speaks, by API key; asked once per connection."""
        if self._versions is None:
            response = self._ask_for_versions()
            raise_refusal(response.error_code, subject=str(self.address))
            self._versions = {
                api.api_key: VersionRange(api.min_version, api.max_version)
                for api in response.api_keys
            }
        return self._versions

    def speaks(self, request: type[Request]) -> bool:
        """Whether the broker knows a version of ``request`` that we know too."""
        return bool(self._common_versions(request))

    def version_of(self, request: type[Request], *, newest: int = 32767) -> int:
        """The newest version both sides know, ``newest`` at most; UnsupportedByBroker if none."""
        common = self._common_versions(request)
        version = min(common.last, newest)
        if version not in common:
            name = request.__name__.removesuffix("Request")
            theirs = self.versions().get(request.api_key)
            known = f"only versions {theirs}" if theirs else "no version"
            raise UnsupportedByBroker(f"{self.address} knows {known} of {name}")
        return version

    def _common_versions(self, request: type[Request]) -> VersionRange:
        spec = api_spec(request.api_key)
        assert spec is not None, "a request class belongs to an API"
        theirs = self.versions().get(request.api_key, VersionRange(0, -1))
        ours = spec.stable_versions
        return VersionRange(max(ours.first, theirs.first), min(ours.last, theirs.last))

    def _ask_for_versions(self) -> ApiVersionsResponse:
        """The answer to ApiVersions, at version 0 if the broker does not know ours (KIP-511).

        Such a broker answers in version 0, whatever was asked, with UNSUPPORTED_VERSION. The error
        code is the first field of every version, so it tells how to read the rest.
        """
        assert not self._expected, "earlier answers are still to come"
        for version in (_API_VERSIONS_VERSION, 0):
            request = ApiVersionsRequest(
                client_software_name="kbroker", client_software_version="0"
            )
            self.send(request, version)
            expected = self._expected.popleft()
            frame = self.receive_frame()
            code = int.from_bytes(frame[4:6], "big", signed=True)
            if version > 0 and code == ErrorCode.UNSUPPORTED_VERSION:
                continue
            return self._decode(frame, expected, ApiVersionsResponse)
        raise AssertionError("the last version is always answered or refused")

    def _decode(self, frame: bytes, expected: _Expected, answer: type[R]) -> R:
        name = ApiKey(expected.api_key).name
        try:
            correlation_id, response = decode_response(
                answer, expected.version, frame, 0, len(frame)
            )
        except ProtocolError as error:
            self.close()
            raise BadAnswer(f"{self.address} answered {name} with other bytes: {error}") from error
        if correlation_id != expected.correlation_id:
            self.close()
            raise BadAnswer(
                f"{self.address} answered request {correlation_id}, not {expected.correlation_id}"
            )
        return response

    def _next_correlation_id(self) -> int:
        self._last_correlation_id = self._last_correlation_id % _MAX_CORRELATION_ID + 1
        return self._last_correlation_id


def _words(error: OSError | UnicodeError) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
