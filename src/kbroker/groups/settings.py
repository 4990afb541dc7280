"""The configs that groups look at, each under the name of its use."""

from dataclasses import dataclass
from typing import Self

from kbroker.config import BrokerConfig


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """What the configs say about groups; made anew when one of them changes.

    ``GroupSettings()`` has Kafka's defaults.
    """

    # Classic groups.
    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    max_size: int = 2_147_483_647
    initial_rebalance_delay_ms: int = 3_000
    # Committed offsets.
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_ms: int = 10_080 * 60_000
    offsets_retention_check_interval_ms: int = 600_000
    # Consumer groups (KIP-848). What a group overrides, `GroupConfig` says.
    consumer_session_timeout_ms: int = 45_000
    consumer_heartbeat_interval_ms: int = 5_000
    consumer_assignment_interval_ms: int = 1_000
    consumer_max_size: int = 2_147_483_647
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    consumer_migration_policy: str = "bidirectional"
    consumer_regex_refresh_interval_ms: int = 600_000

    @classmethod
    def of(cls, config: BrokerConfig) -> Self:
        """The settings of a broker."""
        return cls(
            min_session_timeout_ms=config.get_int("group.min.session.timeout.ms"),
            max_session_timeout_ms=config.get_int("group.max.session.timeout.ms"),
            max_size=config.get_int("group.max.size"),
            initial_rebalance_delay_ms=config.get_int("group.initial.rebalance.delay.ms"),
            offset_metadata_max_bytes=config.get_int("offset.metadata.max.bytes"),
            offsets_retention_ms=config.get_int("offsets.retention.minutes") * 60_000,
            offsets_retention_check_interval_ms=config.get_int(
                "offsets.retention.check.interval.ms"
            ),
            consumer_session_timeout_ms=config.get_int("group.consumer.session.timeout.ms"),
            consumer_heartbeat_interval_ms=config.get_int("group.consumer.heartbeat.interval.ms"),
            consumer_assignment_interval_ms=config.get_int("group.consumer.assignment.interval.ms"),
            consumer_max_size=config.get_int("group.consumer.max.size"),
            consumer_assignors=config.get_list("group.consumer.assignors"),
            consumer_migration_policy=_lower(config.get_text("group.consumer.migration.policy")),
            consumer_regex_refresh_interval_ms=config.get_int(
                "group.consumer.regex.refresh.interval.ms"
            ),
        )


def _lower(policy: str | None) -> str:
    assert policy is not None, "a policy that has a default cannot be taken away"
    return policy.lower()
