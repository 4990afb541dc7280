"""From the bytes of one request to the bytes of its answer.

decode header -> find the route -> decode the request -> call the handler -> encode the answer

A route is all that is known about one version of one API: its decoder and its handler, found once
and kept. Kafka's behaviour for what cannot be served, seen on Kafka 4.3.1:

what comes                                     what happens
---------------------------------------------  ------------------------------------------
ApiVersions of an unknown version              version 0 of the answer, UNSUPPORTED_VERSION
any other unknown version (Produce 0-2 too)    the connection is closed
an unknown API, or bytes that are no request   the connection is closed
bytes behind a request, inside its frame       ignored
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from kbroker.broker.requests import (
    CloseConnection,
    ConnectionInfo,
    Later,
    Polled,
    RequestContext,
)
from kbroker.handlers.table import Begin, Handle, Table
from kbroker.telemetry import Counter, Registry
from kbroker.telemetry.log_lines import get_logger
from kbroker.wire import (
    ApiKey,
    Buffer,
    ErrorCode,
    Message,
    Part,
    ProtocolError,
    RequestHeader,
    decode_request_header,
    encode_response_frame,
    request_class,
    response_class,
)
from kbroker.wire.message import Decoder, Response

if TYPE_CHECKING:
    from kbroker.broker.broker import Broker

log = get_logger("requests")

# What a client may ask before it has said who it is.
BEFORE_AUTHENTICATION = frozenset(
    {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}
)
# A failed request is logged in full only if it is small.
_LOGGED_REQUEST_BYTES = 4096

# The parts of an answer; an answer that comes later; or none at all (acks=0).
Begun: TypeAlias = "list[Part] | Pending | Polling | None"


class RequestFailedError(Exception):
    """A request failed because of a bug of ours, and its answer cannot say so: close."""


class Route:
    """One version of one API."""

    __slots__ = ("begin", "decode", "handle", "key", "requests", "version")

    def __init__(
        self,
        key: ApiKey,
        version: int,
        decode: Decoder,
        handler: tuple[Begin | None, Handle | None],
        requests: Counter,
    ) -> None:
        self.key = key
        self.version = version
        self.decode = decode
        self.begin, self.handle = handler
        self.requests = requests


class Pending:
    """A request that is begun and whose answer comes later.

    While an ``exclusive`` one is pending, its connection begins no other request.
    """

    __slots__ = ("answer", "context", "exclusive", "header")

    def __init__(
        self,
        header: RequestHeader,
        context: RequestContext,
        answer: Callable[[], Awaitable[Response]],
        *,
        exclusive: bool,
    ) -> None:
        self.header = header
        self.context = context
        self.answer = answer
        self.exclusive = exclusive


class Polling:
    """A request that is begun, and whose answer is asked for when something happened."""

    __slots__ = ("context", "header", "polled")

    def __init__(
        self, header: RequestHeader, context: RequestContext, polled: Polled[Response]
    ) -> None:
        self.header = header
        self.context = context
        self.polled = polled


class Dispatcher:
    """Begins and finishes requests; knows no sockets."""

    def __init__(self, table: Table, broker: "Broker", registry: Registry) -> None:
        self._table = table
        self._broker = broker
        self._registry = registry
        self._routes: dict[int, Route] = {}
        self._failed_requests = registry.counter(
            "request_failures_total", "Requests that failed because of a bug in the broker."
        )

    def begin(
        self,
        buffer: Buffer,
        start: int,
        end: int,
        connection: ConnectionInfo,
        received_at: float,
    ) -> Begun:
        """Begin the request between two positions of ``buffer``, which is free afterwards.

        What ends the connection is raised: ProtocolError if the client did something wrong,
        CloseConnection if the handler wants it, RequestFailedError if we did something wrong.
        """
        header = decode_request_header(buffer, start, end)
        key, version, correlation_id, client_id, body = header
        context = RequestContext(self._broker, version, client_id or "", connection, received_at)
        request: Message | None = None
        try:
            route = self._routes.get(key << 16 | version) or self._find_route(key, version)
            if route is None:
                from kbroker.handlers.api_versions import unsupported_version

                return encode_response_frame(correlation_id, unsupported_version(), 0)
            if not connection.authenticated and key not in BEFORE_AUTHENTICATION:
                raise ProtocolError(f"{route.key.name} before authentication")
            request, _ = route.decode(buffer, body, end)
            route.requests.value += 1
            if route.begin is None:
                assert route.handle is not None
                return Pending(
                    header, context, partial(route.handle, context, request), exclusive=True
                )
            answer = route.begin(context, request)
            if answer is None:
                return None
            if isinstance(answer, Later):
                return Pending(header, context, answer.finish, exclusive=False)
            if isinstance(answer, Polled):
                return Polling(header, context, answer)
            return encode_response_frame(correlation_id, answer, version)
        except (ProtocolError, CloseConnection):
            raise
        except Exception as error:
            small = end - start <= _LOGGED_REQUEST_BYTES
            return self._fail(error, header, context, request if small else None)

    async def finish(self, pending: Pending) -> list[Part]:
        """Wait for the answer of a request that was begun; raises what `begin` raises."""
        header = pending.header
        try:
            answer = await pending.answer()
            return encode_response_frame(header.correlation_id, answer, header.api_version)
        except CloseConnection:
            raise
        except Exception as error:
            return self._fail(error, header, pending.context, None)

    def poll(self, polling: Polling) -> list[Part] | None:
        """The answer of a request that was begun, if it is there; raises what `begin` raises."""
        header = polling.header
        try:
            answer = polling.polled.poll()
            if answer is None:
                return None
            return encode_response_frame(header.correlation_id, answer, header.api_version)
        except Exception as error:
            polling.polled.close()
            return self._fail(error, header, polling.context, None)

    def _find_route(self, key: int, version: int) -> Route | None:
        """The route of a version that was not asked for yet; None for an unknown ApiVersions."""
        served = self._table.get(key)
        if served is None:
            raise ProtocolError(f"{ApiKey(key).name} is not served")
        request_type = request_class(key)
        if not served.lowest <= version <= served.highest or version not in request_type.versions:
            if key == ApiKey.API_VERSIONS:
                return None
            raise ProtocolError(f"{served.key.name} has no version {version}")
        requests = self._registry.counter(
            "requests_total", "Requests by API.", api=served.key.name.lower()
        )
        route = Route(
            served.key, version, request_type.decoder(version), served.resolve(), requests
        )
        self._routes[key << 16 | version] = route
        return route

    def _fail(
        self,
        error: Exception,
        header: RequestHeader,
        context: RequestContext,
        request: Message | None,
    ) -> list[Part]:
        """Log a bug of ours; answer UNKNOWN_SERVER_ERROR if the answer has a place for it."""
        self._failed_requests.value += 1
        log.failure(
            "request failed",
            error,
            api=ApiKey(header.api_key).name,
            version=header.api_version,
            correlation_id=header.correlation_id,
            client_id=context.client_id,
            connection=context.connection.connection_id,
            request=request,
        )
        response_type = response_class(header.api_key)
        for field in response_type.fields:
            if field.name == "error_code" and header.api_version in field.versions:
                response = response_type()
                setattr(response, field.name, ErrorCode.UNKNOWN_SERVER_ERROR)
                return encode_response_frame(header.correlation_id, response, header.api_version)
        raise RequestFailedError(f"{type(error).__name__} in the broker") from error
