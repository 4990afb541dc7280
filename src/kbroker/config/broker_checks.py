"""What the configs of a broker must be together, beyond each alone.

These are Kafka's own checks, with its words, where a user of kbroker would
notice. A broker that fails one does not start, and a dynamic change that fails
one is refused. What a KRaft quorum or a JVM needs is not checked.
"""

import re
from typing import Protocol

from kbroker.config.errors import ConfigError
from kbroker.config.listeners import Listener
from kbroker.config.values import ConfigValue


class Readable(Protocol):
    """What the checks read of a BrokerConfig."""

    def value(self, name: str) -> ConfigValue:
        """The value of ``name``."""

    def get_int(self, name: str) -> int:
        """The value of ``name``, which has one."""

    def get_list(self, name: str) -> tuple[str, ...]:
        """The value of ``name``, empty if it has none."""

    @property
    def advertised_listeners(self) -> tuple[Listener, ...]:
        """The addresses clients are told; ConfigError if that cannot be."""

    @property
    def inter_broker_listener(self) -> Listener:
        """Where other brokers reach this one."""

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """The data directories."""


# Each of these has a minimum and a maximum beside it, and lies between them.
_LIMITED = (
    ("group.consumer.", "heartbeat.interval.ms"),
    ("group.consumer.", "session.timeout.ms"),
    ("group.consumer.", "assignment.interval.ms"),
    ("group.share.", "heartbeat.interval.ms"),
    ("group.share.", "session.timeout.ms"),
    ("group.share.", "assignment.interval.ms"),
    ("group.share.", "delivery.count.limit"),
    ("group.share.", "record.lock.duration.ms"),
    ("group.share.", "partition.max.record.locks"),
    ("group.streams.", "heartbeat.interval.ms"),
    ("group.streams.", "session.timeout.ms"),
    ("group.streams.", "assignment.interval.ms"),
)


def check_broker(config: Readable) -> None:
    """Refuse configs that contradict each other; ConfigError says which."""
    _check_ids(config)
    _check_network(config)
    _check_log(config)
    _check_replication(config)
    _check_groups(config)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ConfigError(problem)


def _check_ids(config: Readable) -> None:
    _require(
        config.value("node.id") is None or config.value("node.id") == config.value("broker.id"),
        "You must set `node.id` to the same value as `broker.id`.",
    )


def _check_network(config: Readable) -> None:
    advertised = [listener.name for listener in config.advertised_listeners]
    inter_broker = config.value("inter.broker.listener.name")
    if isinstance(inter_broker, str):
        _require(
            inter_broker.upper() in advertised,
            "inter.broker.listener.name must be a listener name defined in advertised.listeners. "
            "The valid options based on currently configured listeners are " + ",".join(advertised),
        )
    _require(
        bool(advertised),
        "There must be at least one broker advertised listener."
        " Perhaps all listeners appear in controller.listener.names?",
    )
    if config.inter_broker_listener.sasl:
        _require(
            config.value("sasl.mechanism.inter.broker.protocol")
            in config.get_list("sasl.enabled.mechanisms"),
            "sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms "
            "when SASL is used for inter-broker communication",
        )
    delay_ms = config.get_int("connection.failed.authentication.delay.ms")
    idle_ms = config.get_int("connections.max.idle.ms")
    _require(
        idle_ms < 0 or delay_ms < idle_ms,
        f"connection.failed.authentication.delay.ms={delay_ms} should always be less than "
        f"connections.max.idle.ms={idle_ms} to prevent failed authentication responses from "
        "timing out",
    )
    overrides = config.value("max.connections.per.ip.overrides")
    assert isinstance(overrides, str)
    _check_connection_limits(overrides)
    _require(
        config.get_int("max.connections.per.ip") != 0 or bool(overrides.strip()),
        "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides "
        "property is set.",
    )


def _check_connection_limits(overrides: str) -> None:
    for entry in filter(None, (part.strip() for part in overrides.split(","))):
        host, _, count = entry.rpartition(":")
        if not host or re.fullmatch("[0-9]{1,10}", count.strip()) is None:
            name = "max.connections.per.ip.overrides"
            raise ConfigError.of_value(name, overrides, "each entry must be host:count")


def _check_log(config: Readable) -> None:
    _require(
        _first(config, "log.roll.ms", "log.roll.hours") >= 1,
        "log.roll.ms must be greater than or equal to 1",
    )
    _require(
        _first(config, "log.roll.jitter.ms", "log.roll.jitter.hours") >= 0,
        "log.roll.jitter.ms must be greater than or equal to 0",
    )
    _require(
        _first(config, "log.retention.ms", "log.retention.minutes", "log.retention.hours") != 0,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    )
    _require(
        bool(config.log_dirs),
        "At least one log directory must be defined via log.dirs or log.dir.",
    )
    cordoned = config.get_list("cordoned.log.dirs")
    _require(
        "*" not in cordoned or len(cordoned) == 1,
        "When cordoned.log.dirs is set to *, it must not contain other values",
    )
    missing = [one for one in cordoned if one != "*" and one not in config.log_dirs]
    _require(
        not missing,
        "All entries in cordoned.log.dirs must be present in log.dirs or log.dir. "
        f"Missing entries : {','.join(missing)}",
    )
    shortest = config.get_int("log.cleaner.min.compaction.lag.ms")
    longest = config.get_int("log.cleaner.max.compaction.lag.ms")
    _require(
        shortest <= longest,
        f"conflict topic config setting min.compaction.lag.ms ({shortest}) > "
        f"max.compaction.lag.ms ({longest})",
    )


def _first(config: Readable, *names: str) -> int:
    """The first of several units that is set; only its sign matters here."""
    values = (config.value(name) for name in names)
    value = next(value for value in values if value is not None)
    assert isinstance(value, int)
    return value


def _check_replication(config: Readable) -> None:
    wait_ms = config.get_int("replica.fetch.wait.max.ms")
    _require(
        config.get_int("replica.socket.timeout.ms") >= wait_ms,
        "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to "
        "prevent unnecessary socket timeouts",
    )
    _require(
        config.get_int("replica.lag.time.max.ms") >= wait_ms,
        "replica.fetch.wait.max.ms should always be less than or equal to "
        "replica.lag.time.max.ms to prevent frequent changes in ISR",
    )
    heartbeat_ms = config.get_int("broker.heartbeat.interval.ms")
    session_ms = config.get_int("broker.session.timeout.ms")
    _require(
        heartbeat_ms <= session_ms / 2,
        f"broker.heartbeat.interval.ms ({heartbeat_ms} ms) must be less than or equal to half of "
        f"the broker.session.timeout.ms ({session_ms} ms).",
    )


def _check_groups(config: Readable) -> None:
    for kind, name in _LIMITED:
        value, own = config.get_int(kind + name), kind + name
        lowest, highest = f"{kind}min.{name}", f"{kind}max.{name}"
        _require(
            config.get_int(lowest) <= config.get_int(highest),
            f"{highest} must be greater than or equal to {lowest}",
        )
        _require(
            value >= config.get_int(lowest), f"{own} must be greater than or equal to {lowest}"
        )
        _require(value <= config.get_int(highest), f"{own} must be less than or equal to {highest}")
    standbys = "group.streams.num.standby.replicas"
    most_standbys = "group.streams.max.standby.replicas"
    _require(
        config.get_int(standbys) <= config.get_int(most_standbys),
        f"{standbys} must be less than or equal to {most_standbys}",
    )
    for kind in ("group.consumer.", "group.share.", "group.streams."):
        heartbeat, session = f"{kind}heartbeat.interval.ms", f"{kind}session.timeout.ms"
        _require(
            config.get_int(heartbeat) < config.get_int(session),
            f"{heartbeat} must be less than {session}",
        )
