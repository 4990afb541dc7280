"""``kbroker start``: run a broker in the foreground until it is told to stop.

Bad input is one clear line on stderr and exit code 2. SIGTERM and SIGINT shut down in good order
and exit with 0; a second one of either ends the process at once.
"""

import argparse
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import trio

from kbroker.config import BrokerConfig, ConfigError, parse_properties
from kbroker.server.serving import StartError, serve
from kbroker.server.settings import BoundAddress
from kbroker.telemetry.log_lines import configure_logging

DEFAULT_DATA_DIRECTORY = "kbroker-data"
DEFAULT_LISTENER = "PLAINTEXT://127.0.0.1:9092"
# Kafka's defaults are for three brokers; one broker holds one copy of the topics for itself, as
# the configuration files that Kafka ships for one broker say too.
ALONE = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
BAD_INPUT = 2


class InputError(Exception):
    """What the user typed cannot be done; the text says why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--data-dir", metavar="DIR", help=f"where the data lies (./{DEFAULT_DATA_DIRECTORY})"
    )
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="where to listen (127.0.0.1:9092); port 0: any free"
    )
    parser.add_argument("--node-id", metavar="N", type=int, help="the number of this broker (1)")
    parser.add_argument("--config", metavar="FILE", help="a server.properties file, as Kafka's")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a broker config under Kafka's name; may be repeated, beats the file",
    )
    parser.add_argument(
        "--ready-file", metavar="FILE", help="gets host:port written once the broker serves"
    )
    parser.add_argument("--log-format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--log-level", choices=("debug", "info", "warning", "error"), default="info"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve; gives the exit code."""
    try:
        config = BrokerConfig.of(static_configs(arguments))
        _check_ready_file(arguments.ready_file)
        configure_logging(sys.stderr, arguments.log_format, arguments.log_level.upper())
        trio.run(_main, config, arguments.ready_file)
    except (ConfigError, InputError) as error:
        return _complain(error)
    except BaseExceptionGroup as group:
        # Nurseries wrap what leaves them.
        refused = group.subgroup((StartError, InputError))
        if refused is None:
            raise
        return _complain(_first(refused))
    return 0


def _complain(error: BaseException) -> int:
    print(f"kbroker: {error}", file=sys.stderr)
    return BAD_INPUT


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def static_configs(arguments: argparse.Namespace) -> dict[str, str]:
    """The configs of file, options and ``--set``, the last ones winning."""
    configs = {"log.dirs": DEFAULT_DATA_DIRECTORY, "listeners": DEFAULT_LISTENER, "node.id": "1"}
    configs |= ALONE
    if arguments.config is not None:
        configs |= _without_conflicts(_read_properties(arguments.config))
    if arguments.data_dir is not None:
        configs["log.dirs"] = arguments.data_dir
    if arguments.listen is not None:
        configs["listeners"] = _listener(arguments.listen)
    if arguments.node_id is not None:
        configs["node.id"] = str(arguments.node_id)
    for pair in arguments.set:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"--set wants NAME=VALUE, not {pair!r}")
        configs[name.strip()] = value
    return configs


def _read_properties(file: str) -> dict[str, str]:
    try:
        return parse_properties(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {file}: it is not UTF-8") from error


def _without_conflicts(properties: Mapping[str, str]) -> dict[str, str]:
    """``properties`` with the names that our defaults use: log.dir and broker.id are old ones."""
    configs = dict(properties)
    if "log.dir" in configs and "log.dirs" not in configs:
        configs["log.dirs"] = configs["log.dir"]
    if "broker.id" in configs and "node.id" not in configs:
        configs["node.id"] = configs["broker.id"]
    return configs


def _listener(address: str) -> str:
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        raise InputError(f"--listen wants HOST:PORT, not {address!r}")
    return f"PLAINTEXT://{host}:{port}"


async def _main(config: BrokerConfig, ready_file: str | None) -> None:
    shutdown = trio.Event()
    async with trio.open_nursery() as watching:
        watching.start_soon(_watch_signals, shutdown)
        async with trio.open_nursery() as serving:
            addresses = await serving.start(serve, config, shutdown)
            _announce(addresses, ready_file)
        watching.cancel_scope.cancel()


async def _watch_signals(shutdown: trio.Event) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            if shutdown.is_set():
                os._exit(1)
            shutdown.set()


def _check_ready_file(ready_file: str | None) -> None:
    """Complain of a place where no file can be before the broker is started for nothing."""
    if ready_file is None:
        return
    if Path(ready_file).is_dir():
        raise InputError(f"cannot write {ready_file}: it is a folder")
    if not Path(ready_file).absolute().parent.is_dir():
        raise InputError(f"cannot write {ready_file}: there is no such folder")


def _announce(addresses: list[BoundAddress], ready_file: str | None) -> None:
    """The ready file for scripts, written whole or not at all, and one line for people."""
    first = f"{addresses[0].host}:{addresses[0].port}"
    if ready_file is not None:
        partial = f"{ready_file}.tmp"
        try:
            Path(partial).write_text(f"{first}\n", encoding="utf-8")
            Path(partial).replace(ready_file)
        except OSError as error:
            raise InputError(f"cannot write {ready_file}: {error.strerror}") from error
    print(f"kbroker serves {first}", flush=True)
