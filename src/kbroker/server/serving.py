"""A whole broker, from configs to a clean stop: what ``kbroker start`` and tests run.

bind        before anything else, so that a taken port is known at once
open        metadata and logs
register    under the addresses that were bound
accept      now clients are served
drain       on shutdown: no new connections, begun requests finish
close       flush, checkpoints, the marker of a clean stop
"""

from pathlib import Path

import trio

from kbroker.broker.broker import Broker
from kbroker.broker.control import ControlError
from kbroker.cluster import Endpoint
from kbroker.config import BrokerConfig, Listener
from kbroker.handlers.table import TABLE
from kbroker.log import LogError
from kbroker.server.dispatch import Dispatcher
from kbroker.server.server import Server
from kbroker.server.settings import BoundAddress, ListenerSettings, ServerSettings
from kbroker.server.tls import TlsConfigError, tls_context
from kbroker.store import EmbeddedStore, StoreError
from kbroker.telemetry.log_lines import get_logger

log = get_logger("broker")

STORE_FILE = "cluster-metadata.kbroker"
# How long requests that were begun may go on after the order to stop. Long polls and parked joins
# are answered at once; this is for answers that slow clients still have to take.
DRAIN_S = 5.0


class StartError(Exception):
    """The broker cannot start; the text is for the person who started it."""


async def serve(
    config: BrokerConfig,
    shutdown: trio.Event,
    *,
    task_status: trio.TaskStatus[list[BoundAddress]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until ``shutdown`` is set; reports where, once clients can connect.

    StartError if the data directory, the metadata or a listener cannot be used.
    """
    for name in config.unknown:
        log.warning("unknown config", name=name)
    listeners = [_listener_settings(config, listener) for listener in config.listeners]
    try:
        store = EmbeddedStore.open(f"{_metadata_directory(config)}/{STORE_FILE}")
        broker = await Broker.open(config, store)
    except (StoreError, LogError, OSError) as error:
        raise StartError(str(error)) from error
    server = Server(
        listeners,
        Dispatcher(TABLE, broker, broker.registry),
        broker.registry,
        _server_settings(config),
    )
    try:
        async with trio.open_nursery() as nursery:
            try:
                addresses = await server.open()
                await nursery.start(broker.run)
            except OSError as error:
                raise StartError(str(error)) from error
            except ExceptionGroup as group:
                # Whatever leaves the nursery of `run` is wrapped in a group.
                raise _start_error(group) from group
            try:
                await broker.join(_endpoints(config, addresses))
            except ControlError as error:
                raise StartError(str(error)) from error
            nursery.start_soon(server.run)
            task_status.started(addresses)
            await shutdown.wait()
            log.info("shutting down")
            broker.stop_waiting()
            await server.shutdown(DRAIN_S)
            await broker.leave()
            nursery.cancel_scope.cancel()
        broker.close()
    finally:
        server.stop_listening()
        with trio.CancelScope(shield=True):
            await store.aclose()
        broker.partitions.release()


def _start_error(group: ExceptionGroup[Exception]) -> Exception:
    """The first reason in ``group`` that a person can do something about, else the group."""
    refused = group.subgroup((LogError, StoreError, ControlError, OSError))
    if refused is None:
        return group
    first: BaseException = refused
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return StartError(str(first))


def _metadata_directory(config: BrokerConfig) -> str:
    directory = config.get_text("metadata.log.dir") or config.log_dirs[0]
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"cannot use {directory}: {error.strerror}") from error
    return directory


def _listener_settings(config: BrokerConfig, listener: Listener) -> ListenerSettings:
    name = listener.name
    if listener.sasl:
        raise StartError(f"listener {name}: {listener.protocol} is not supported yet")
    try:
        tls = tls_context(config, name) if listener.tls else None
    except TlsConfigError as error:
        raise StartError(f"listener {name}: {error}") from error
    return ListenerSettings(name, listener.host, listener.port, tls=tls)


def _server_settings(config: BrokerConfig) -> ServerSettings:
    return ServerSettings(
        max_request_bytes=config.get_int("socket.request.max.bytes"),
        max_idle_ms=config.get_int("connections.max.idle.ms"),
        send_buffer_bytes=config.get_int("socket.send.buffer.bytes"),
        receive_buffer_bytes=config.get_int("socket.receive.buffer.bytes"),
        listen_backlog=config.get_int("socket.listen.backlog.size"),
        max_connections=config.get_int("max.connections"),
        max_connections_per_ip=config.get_int("max.connections.per.ip"),
        max_connections_per_ip_overrides=config.max_connections_per_ip_overrides,
        max_connection_creation_rate=config.get_int("max.connection.creation.rate"),
    )


def _endpoints(config: BrokerConfig, addresses: list[BoundAddress]) -> list[Endpoint]:
    """The addresses clients are told; an advertised port 0 is the port that was bound."""
    bound = {address.listener: address for address in addresses}
    endpoints = []
    for listener in config.advertised_listeners:
        address = bound[listener.name]
        host = listener.host or address.host
        endpoints.append(
            Endpoint(listener.name, host, listener.port or address.port, listener.protocol)
        )
    return endpoints
