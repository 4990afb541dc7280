"""The configs of one group, as its coordinator reads them.

What a group does not set itself comes from its broker, and the broker also sets
the limits of what a group may ask for. A limit that is drawn tighter later does
not make old groups invalid: they get the nearest value inside.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.broker_configs import BROKER_CONFIGS
from kbroker.config.errors import ConfigError
from kbroker.config.group_configs import GROUP_CONFIGS
from kbroker.config.values import ConfigValue


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """Every group config under its Kafka name, with ``_`` for ``.``, inside the broker's limits."""

    consumer_assignment_interval_ms: int
    consumer_heartbeat_interval_ms: int
    consumer_session_timeout_ms: int
    share_assignment_interval_ms: int
    share_auto_offset_reset: str
    share_delivery_count_limit: int
    share_heartbeat_interval_ms: int
    share_isolation_level: str
    share_partition_max_record_locks: int
    share_record_lock_duration_ms: int
    share_renew_acknowledge_enable: bool
    share_session_timeout_ms: int
    streams_assignment_interval_ms: int
    streams_heartbeat_interval_ms: int
    streams_initial_rebalance_delay_ms: int
    streams_num_standby_replicas: int
    streams_session_timeout_ms: int

    @classmethod
    def of(cls, broker: BrokerConfig, overrides: Mapping[str, str]) -> Self:
        """The view of a group that sets ``overrides``; ConfigError if one is not allowed."""
        values = group_values(broker, overrides)
        for name in overrides:
            value = values.get(name)
            if isinstance(value, int):
                for limit, lowest in _limits(name):
                    bound = broker.get_int(limit)
                    value = max(value, bound) if lowest else min(value, bound)
                values[name] = value
        fields = {name.replace(".", "_"): value for name, value in values.items()}
        # The types of the values are those of GROUP_CONFIGS, which the tests compare with ours.
        return cls(**fields)  # type: ignore[arg-type]


def group_values(broker: BrokerConfig, overrides: Mapping[str, str]) -> dict[str, ConfigValue]:
    """The value of every group config as it is shown; ConfigError if an override is wrong."""
    values = {}
    for name, definition in GROUP_CONFIGS.items():
        text = overrides.get(name)
        if text is not None:
            values[name] = definition.parse(text)
        elif definition.synonyms:
            values[name] = broker.value(definition.synonyms[0].name)
        else:
            values[name] = definition.default
    return values


def check_group(broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
    """Refuse what Kafka would refuse to set on a group."""
    for name in overrides:
        if name not in GROUP_CONFIGS:
            raise ConfigError(f"Unknown group config name: {name}")
    values = group_values(broker, overrides)
    for name in overrides:
        value = values[name]
        for limit, lowest in _limits(name):
            bound = broker.get_int(limit)
            assert isinstance(value, int)
            if lowest and value < bound:
                raise ConfigError(f"{name} must be greater than or equal to {limit}")
            if not lowest and value > bound:
                raise ConfigError(f"{name} must be less than or equal to {limit}")
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        session_ms, heartbeat_ms = values[session], values[heartbeat]
        assert isinstance(session_ms, int)
        assert isinstance(heartbeat_ms, int)
        if session_ms <= heartbeat_ms:
            raise ConfigError(f"{session} must be greater than {heartbeat}")


def _limits(name: str) -> Iterator[tuple[str, bool]]:
    """The broker configs that limit ``name``, each with whether it is the lowest value."""
    kind, _, rest = name.partition(".")
    # group.streams.max.standby.replicas limits streams.num.standby.replicas.
    rest = rest.removeprefix("num.")
    for limit, lowest in ((f"group.{kind}.min.{rest}", True), (f"group.{kind}.max.{rest}", False)):
        if limit in BROKER_CONFIGS:
            yield limit, lowest
