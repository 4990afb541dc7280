"""How the topics that the broker keeps for itself are created: from configs of their own."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from kbroker.cluster import NewTopic
from kbroker.cluster.topic_names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from kbroker.config import BrokerConfig


class _InternalTopic(NamedTuple):
    """Which broker configs say how a topic is made, and what is always so."""

    prefix: str
    configs: Mapping[str, str]


_INTERNAL: Final[Mapping[str, _InternalTopic]] = MappingProxyType(
    {
        CONSUMER_OFFSETS: _InternalTopic(
            "offsets.topic", {"cleanup.policy": "compact", "compression.type": "producer"}
        ),
        TRANSACTION_STATE: _InternalTopic(
            "transaction.state.log",
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "unclean.leader.election.enable": "false",
            },
        ),
        SHARE_GROUP_STATE: _InternalTopic(
            "share.coordinator.state.topic",
            # Its coordinator prunes it; time must not.
            {"cleanup.policy": "delete", "compression.type": "producer", "retention.ms": "-1"},
        ),
    }
)

# The number of replicas that must have a record of these topics is set for the topic itself.
_WITH_MIN_ISR: Final = frozenset({TRANSACTION_STATE, SHARE_GROUP_STATE})


def topic_to_create(name: str, config: BrokerConfig) -> NewTopic:
    """What is created when somebody needs ``name`` and nobody said how it should be."""
    internal = _INTERNAL.get(name)
    if internal is None:
        return NewTopic(name)
    prefix = internal.prefix
    configs = {**internal.configs, "segment.bytes": str(config.get_int(f"{prefix}.segment.bytes"))}
    if name in _WITH_MIN_ISR:
        configs["min.insync.replicas"] = str(config.get_int(f"{prefix}.min.isr"))
    return NewTopic(
        name,
        num_partitions=config.get_int(f"{prefix}.num.partitions"),
        replication_factor=config.get_int(f"{prefix}.replication.factor"),
        configs=configs,
    )
