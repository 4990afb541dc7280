"""What a handler gets beside its request, and how it says that its answer comes later.

A handler answers in one of four ways:

    def begin(context, request) -> Response          at once; the usual case
    def begin(context, request) -> Later[Response]   begun now, answered when something happened
    def begin(context, request) -> Polled[Response]  the same, without a task that waits for it
    async def handle(context, request) -> Response   may wait; nothing else of this client begins

`begin` runs as soon as the request was read, in the order in which a client sent its requests. So
what must happen in that order (appending records) happens in `begin`, even if the answer has to
wait (for replication) and requests behind it are begun meanwhile. Answers leave in the order of
the requests in any case.

A view on the request's bytes (`records`) points into the memory the connection receives with. It
is valid until `begin` returns; a `Later` must not keep it, nor anything sliced from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from kbroker.broker.broker import Broker

R_co = TypeVar("R_co", covariant=True)

# Who a client is where nobody has to say who they are.
ANONYMOUS = "User:ANONYMOUS"


class CloseConnection(Exception):  # noqa: N818 - an order, not a failure of ours
    """Raised by a handler whose only way to say that something went wrong is to hang up."""


class ConnectionInfo:
    """What is known about one connection; the same object for all its requests.

    ``authenticated`` is true from the start where a listener asks for no authentication.
    The client's software introduces itself with ApiVersions (KIP-511), if at all.
    """

    __slots__ = (
        "authenticated",
        "client_software_name",
        "client_software_version",
        "connection_id",
        "listener",
        "peer_host",
        "peer_port",
        "principal",
    )

    def __init__(
        self,
        *,
        connection_id: str,
        listener: str,
        peer_host: str,
        peer_port: int,
        principal: str = ANONYMOUS,
        authenticated: bool = True,
    ) -> None:
        self.connection_id = connection_id
        self.listener = listener
        self.peer_host = peer_host
        self.peer_port = peer_port
        self.principal = principal
        self.authenticated = authenticated
        self.client_software_name = "unknown"
        self.client_software_version = "unknown"


class RequestContext:
    """One request's surroundings; ``received_at`` is trio's time when its bytes were read."""

    __slots__ = ("api_version", "broker", "client_id", "connection", "received_at")

    def __init__(
        self,
        broker: "Broker",
        api_version: int,
        client_id: str,
        connection: ConnectionInfo,
        received_at: float,
    ) -> None:
        self.broker = broker
        self.api_version = api_version
        self.client_id = client_id
        self.connection = connection
        self.received_at = received_at


class Later(ABC, Generic[R_co]):
    """An answer that has to wait for something; the request itself is begun."""

    __slots__ = ()

    @abstractmethod
    async def finish(self) -> R_co:
        """Wait, and give the answer.

        Runs in a task of the connection and is cancelled when the client goes: what must not be
        lost is done elsewhere. Called exactly once, or never if the client is gone already.
        """


class Polled(ABC, Generic[R_co]):
    """An answer that has to wait, and is asked for again whenever something happened.

    For long polls, of which there may be one for each connection: they cost no task and no timer.
    """

    __slots__ = ()

    @abstractmethod
    def watch(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` whenever there may be an answer; it takes note and does nothing else.

        Called once, before anyone else runs, so that nothing can happen unnoticed.
        """

    @abstractmethod
    def poll(self) -> R_co | None:
        """The answer, or None if it has to wait on; ``wake`` is not called after an answer."""

    @abstractmethod
    def close(self) -> None:
        """Nobody wants the answer any more; may be called at any time, also again."""
