"""What the server counts; plain integers, read by the metrics page when it is asked for."""

from kbroker.telemetry import Registry


class ServerStats:
    """The meters of one server."""

    __slots__ = (
        "accept_errors",
        "accepted",
        "failed_handshakes",
        "idle_closes",
        "open",
        "protocol_errors",
        "received_bytes",
        "refused",
    )

    def __init__(self, registry: Registry) -> None:
        self.accepted = registry.counter("connections_total", "Connections accepted.")
        self.open = registry.gauge("connections", "Connections that are open.")
        self.refused = registry.counter(
            "connections_refused_total", "Connections closed because an address has too many."
        )
        self.idle_closes = registry.counter(
            "connections_idle_closed_total", "Connections closed because nothing happened on them."
        )
        self.protocol_errors = registry.counter(
            "protocol_errors_total", "Connections closed because the client broke the protocol."
        )
        self.failed_handshakes = registry.counter(
            "tls_handshakes_failed_total", "Connections closed because their handshake failed."
        )
        self.accept_errors = registry.counter(
            "accept_errors_total", "Failures to accept a connection, such as too many open files."
        )
        self.received_bytes = registry.counter(
            "network_received_bytes_total", "Bytes received from clients."
        )
