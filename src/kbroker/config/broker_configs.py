"""Every config a broker can have, by name, and how names of broker configs relate.

The rows stand in the modules beside this one, by subject. Two kinds of names need
a closer look, and `find_broker_config` and `broker_synonyms` are where it is taken:
a config for one listener (``listener.name.internal.ssl.keystore.location``) and a
config with several units (``log.retention.hours``, ``.minutes``, ``.ms``).
"""

import re
from collections.abc import Mapping
from typing import Final

from kbroker.config.broker_groups import GROUP_COORDINATOR_CONFIGS
from kbroker.config.broker_kraft import CLUSTER_CONFIGS
from kbroker.config.broker_log import LOG_CONFIGS
from kbroker.config.broker_network import NETWORK_CONFIGS
from kbroker.config.broker_replication import REPLICATION_CONFIGS
from kbroker.config.broker_security import SECURITY_CONFIGS
from kbroker.config.broker_share_streams import SHARE_AND_STREAMS_CONFIGS
from kbroker.config.broker_tiered import TIERED_STORAGE_CONFIGS
from kbroker.config.broker_transactions import TRANSACTION_CONFIGS
from kbroker.config.definition import CLUSTER_WIDE, LONG, MAX_LONG, ConfigDef, table
from kbroker.config.validators import Range

# kafka-reassign-partitions sets these on running brokers; Kafka defines them nowhere else, so
# they are shown only while they are set.
THROTTLE_CONFIGS: Final = table(
    ConfigDef(
        "follower.replication.throttled.rate",
        LONG,
        MAX_LONG,
        "The most bytes per second that throttled replicas fetch as followers.",
        Range(0),
        CLUSTER_WIDE,
        internal=True,
    ),
    ConfigDef(
        "leader.replication.throttled.rate",
        LONG,
        MAX_LONG,
        "The most bytes per second that throttled replicas are served with as leaders.",
        Range(0),
        CLUSTER_WIDE,
        internal=True,
    ),
    ConfigDef(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        MAX_LONG,
        "The most bytes per second that move between log directories.",
        Range(0),
        CLUSTER_WIDE,
        internal=True,
    ),
)

BROKER_CONFIGS: Final[Mapping[str, ConfigDef]] = table(
    *GROUP_COORDINATOR_CONFIGS.values(),
    *CLUSTER_CONFIGS.values(),
    *LOG_CONFIGS.values(),
    *NETWORK_CONFIGS.values(),
    *REPLICATION_CONFIGS.values(),
    *SECURITY_CONFIGS.values(),
    *SHARE_AND_STREAMS_CONFIGS.values(),
    *TIERED_STORAGE_CONFIGS.values(),
    *TRANSACTION_CONFIGS.values(),
    *THROTTLE_CONFIGS.values(),
)

# The first that is set counts.
_UNITS: Final = (
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
)
_SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: names for names in _UNITS for name in names},
    # One way only: the scheduler's interval is a config of its own as well.
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
}

_OF_LISTENER: Final = re.compile(r"listener\.name\.[^.]*\.(.*)", re.DOTALL)
# These are set for one mechanism of a listener: listener.name.internal.plain.sasl.jaas.config.
_OF_MECHANISM: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)


def base_name(name: str) -> str | None:
    """The config that ``name`` sets for one listener; None if it is not about a listener."""
    match = _OF_LISTENER.fullmatch(name)
    if match is None:
        return None
    rest: str = match[1]
    return next((config for config in _OF_MECHANISM if rest.endswith(config)), rest)


def find_broker_config(name: str) -> ConfigDef | None:
    """The definition behind ``name``, also for one listener; None if there is none."""
    definition = BROKER_CONFIGS.get(name)
    if definition is None:
        base = base_name(name)
        definition = None if base is None else BROKER_CONFIGS.get(base)
    return definition


def broker_synonyms(name: str, *, of_listeners: bool = True) -> tuple[str, ...]:
    """The names that are asked for the value of ``name``, in this order."""
    base = base_name(name) if of_listeners else None
    return (name, base) if base is not None else _SYNONYMS.get(name, (name,))
