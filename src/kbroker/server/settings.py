"""What an operator can set about listeners and connections, under Kafka's names and defaults."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

# The largest request before a client has said who it is, whatever is allowed afterwards: Kafka's
# default of sasl.server.max.receive.size.
BEFORE_AUTHENTICATION_BYTES = 524_288
# How long a client may take to say who it is, a handshake of TLS included; Kafka lets it wait
# until it counts as idle, which makes it cheap to hold all connections of a broker.
AUTHENTICATION_DEADLINE_S = 10.0

UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Each field is one config of Kafka's, named beside it."""

    max_request_bytes: int = 104_857_600  # socket.request.max.bytes
    max_idle_ms: int = 600_000  # connections.max.idle.ms; negative means for ever
    send_buffer_bytes: int = 102_400  # socket.send.buffer.bytes; -1 leaves it to the system
    receive_buffer_bytes: int = 102_400  # socket.receive.buffer.bytes; likewise
    listen_backlog: int = 50  # socket.listen.backlog.size
    max_connections: int = UNLIMITED  # max.connections
    max_connections_per_ip: int = UNLIMITED  # max.connections.per.ip
    # max.connections.per.ip.overrides, by address
    max_connections_per_ip_overrides: Mapping[str, int] = field(default_factory=dict)
    max_connection_creation_rate: int = UNLIMITED  # max.connection.creation.rate, per second


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """One listener: its name (``PLAINTEXT``), and where it listens; port 0 takes a free port.

    An empty host means every address of the machine. With a ``tls`` context, connections are
    encrypted.
    """

    name: str
    host: str
    port: int
    needs_authentication: bool = False
    tls: ssl.SSLContext | None = None


@dataclass(frozen=True, slots=True)
class BoundAddress:
    """Where a listener really listens."""

    listener: str
    host: str
    port: int
