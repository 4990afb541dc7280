"""The configs of one topic, as the log and the handlers read them.

What a topic does not set itself comes from its broker. The object is never
changed: a change of either makes a new one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, cast

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.definition import ConfigDef
from kbroker.config.errors import ConfigError
from kbroker.config.topic_configs import TOPIC_CONFIGS
from kbroker.config.values import ConfigValue


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """Every topic config under its Kafka name, with ``_`` for ``.``.

    ``compact`` and ``delete`` are the two flags of cleanup.policy; with neither,
    records are kept for ever. ``segment_bytes`` is internal.segment.bytes where a
    test has set it. -1 in a retention is without limit.
    """

    compact: bool
    delete: bool
    compression_gzip_level: int
    compression_lz4_level: int
    compression_type: str
    compression_zstd_level: int
    delete_retention_ms: int
    file_delete_delay_ms: int
    flush_messages: int
    flush_ms: int
    follower_replication_throttled_replicas: tuple[str, ...]
    index_interval_bytes: int
    leader_replication_throttled_replicas: tuple[str, ...]
    max_compaction_lag_ms: int
    max_message_bytes: int
    message_timestamp_after_max_ms: int
    message_timestamp_before_max_ms: int
    message_timestamp_type: str
    min_cleanable_dirty_ratio: float
    min_compaction_lag_ms: int
    min_insync_replicas: int
    preallocate: bool
    retention_bytes: int
    retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    segment_jitter_ms: int
    segment_ms: int
    unclean_leader_election_enable: bool

    @classmethod
    def of(cls, broker: BrokerConfig, overrides: Mapping[str, str]) -> Self:
        """The view of a topic that sets ``overrides``; ConfigError if one is not allowed."""
        values = topic_values(broker, overrides)
        policy = cast(tuple[str, ...], values.pop("cleanup.policy"))
        internal_segment_bytes = values.pop("internal.segment.bytes")
        if internal_segment_bytes is not None:
            values["segment.bytes"] = internal_segment_bytes
        # The types of the values are those of TOPIC_CONFIGS, which the tests compare with ours.
        fields = {name.replace(".", "_"): value for name, value in values.items()}
        for name in _TIERED:
            del fields[name]
        return cls(compact="compact" in policy, delete="delete" in policy, **fields)  # type: ignore[arg-type]

    @property
    def log_append_time(self) -> bool:
        """Whether the broker stamps records with its own clock."""
        return self.message_timestamp_type == "LogAppendTime"


# Tiered storage is not there, so nobody reads its configs.
_TIERED = (
    "local_retention_bytes",
    "local_retention_ms",
    "remote_log_copy_disable",
    "remote_log_delete_on_disable",
    "remote_storage_enable",
)


def topic_values(broker: BrokerConfig, overrides: Mapping[str, str]) -> dict[str, ConfigValue]:
    """The value of every topic config; ConfigError if an override is not allowed.

    Names that are no topic configs are passed over.
    """
    values = {}
    for name, definition in TOPIC_CONFIGS.items():
        text = overrides.get(name)
        values[name] = _from_broker(broker, definition) if text is None else definition.parse(text)
    return values


def _from_broker(broker: BrokerConfig, definition: ConfigDef) -> ConfigValue:
    for synonym in definition.synonyms:
        value = broker.value(synonym.name)
        if value is None:
            continue
        if synonym.factor != 1:
            assert isinstance(value, int)
            value *= synonym.factor
        # Every negative log.retention.* means for ever.
        if definition.name == "retention.ms" and cast(int, value) < 0:
            return -1
        return value
    return definition.default


def check_topic(broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
    """Refuse what Kafka would refuse to set on a topic."""
    for name in overrides:
        if name not in TOPIC_CONFIGS:
            raise ConfigError(f"Unknown topic config name: {name}")
    values = topic_values(broker, overrides)
    shortest, longest = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if cast(int, shortest) > cast(int, longest):
        raise ConfigError(
            f"conflict topic config setting min.compaction.lag.ms ({shortest}) > "
            f"max.compaction.lag.ms ({longest})"
        )
    if values["remote.storage.enable"]:
        raise ConfigError(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
