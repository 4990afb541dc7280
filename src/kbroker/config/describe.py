"""What DescribeConfigs shows: every config with its value and where the value comes from.

The *synonyms* of a config are all the places that have a value for it, the one
that counts first; its *source* is that of the first. Tools decide by the source
what is a default and what somebody chose (MirrorMaker copies only the latter).

One oddity is Kafka's own and kept: synonyms begin with the config's own broker
name, so where only log.retention.hours is set, the retention.ms of a topic has
the right value but no synonyms, and its source is DEFAULT.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.broker_configs import BROKER_CONFIGS, broker_synonyms, find_broker_config
from kbroker.config.client_metrics_configs import CLIENT_METRICS_CONFIGS
from kbroker.config.definition import ConfigDef, UpdateMode
from kbroker.config.group_config import group_values
from kbroker.config.group_configs import GROUP_CONFIGS
from kbroker.config.topic_config import topic_values
from kbroker.config.topic_configs import TOPIC_CONFIGS
from kbroker.config.values import ConfigType, ConfigValue, format_value


class ConfigSource(IntEnum):
    """Where a value comes from, with its number in DescribeConfigs."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


@dataclass(frozen=True, slots=True)
class DescribedSynonym:
    """One place that has a value for a config; a secret's ``value`` is None."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class DescribedConfig:
    """One config as DescribeConfigs shows it; a secret's ``value`` is None."""

    name: str
    value: str | None
    source: ConfigSource
    type: ConfigType
    read_only: bool
    sensitive: bool
    synonyms: tuple[DescribedSynonym, ...]
    documentation: str | None


# The texts of the defaults, where there are any.
_DEFAULT_TEXTS: Final[Mapping[str, str]] = {
    name: text
    for name, definition in BROKER_CONFIGS.items()
    if not definition.internal and (text := format_value(definition.default)) is not None
}


def describe_topic(
    broker: BrokerConfig, overrides: Mapping[str, str], names: Collection[str] | None = None
) -> list[DescribedConfig]:
    """The configs of a topic that sets ``overrides``; only ``names``, or all if there are none."""
    described = []
    for name, value in topic_values(broker, overrides).items():
        definition = TOPIC_CONFIGS[name]
        if _is_wanted(name, names) and (not definition.internal or name in overrides):
            broker_name = definition.synonyms[0].name if definition.synonyms else None
            synonyms = _own(definition, value, overrides, ConfigSource.DYNAMIC_TOPIC)
            synonyms += _broker_synonyms(broker, broker_name, sensitive=definition.sensitive)
            described.append(_described(definition, value, synonyms))
    return described


def describe_group(
    broker: BrokerConfig, overrides: Mapping[str, str], names: Collection[str] | None = None
) -> list[DescribedConfig]:
    """The configs of a group that sets ``overrides``; a group need not exist for that."""
    described = []
    for name, value in group_values(broker, overrides).items():
        if not _is_wanted(name, names):
            continue
        definition = GROUP_CONFIGS[name]
        synonyms = _own(definition, value, overrides, ConfigSource.GROUP)
        if definition.synonyms:
            broker_name = definition.synonyms[0].name
            synonyms += _broker_synonyms(broker, broker_name, sensitive=definition.sensitive)
        else:
            text = format_value(definition.default)
            synonyms += (DescribedSynonym(name, text, ConfigSource.DEFAULT),)
        described.append(_described(definition, value, synonyms))
    return described


def describe_client_metrics(
    overrides: Mapping[str, str], names: Collection[str] | None = None
) -> list[DescribedConfig]:
    """The configs of a client metrics subscription."""
    described = []
    for name, definition in CLIENT_METRICS_CONFIGS.items():
        if _is_wanted(name, names):
            value = definition.parse(overrides[name]) if name in overrides else definition.default
            synonyms = _own(definition, value, overrides, ConfigSource.CLIENT_METRICS)
            described.append(_described(definition, value, synonyms))
    return described


def describe_broker(
    broker: BrokerConfig, names: Collection[str] | None = None
) -> list[DescribedConfig]:
    """The configs of one broker: all that are defined, and all that somebody set."""
    texts = broker.texts()
    shown = {name for name, definition in BROKER_CONFIGS.items() if not definition.internal}
    return [
        _described_of_broker(broker, name)
        for name in sorted(shown.union(texts))
        if _is_wanted(name, names)
    ]


def describe_broker_defaults(
    broker: BrokerConfig, names: Collection[str] | None = None
) -> list[DescribedConfig]:
    """The dynamic defaults of all brokers, which is the resource BROKER without a name."""
    described = []
    for name, text in sorted(broker.default_overrides.items()):
        if _is_wanted(name, names):
            whole = _described_of_broker(broker, name)
            value = None if whole.sensitive else text
            source = ConfigSource.DYNAMIC_DEFAULT_BROKER
            synonyms = tuple(synonym for synonym in whole.synonyms if synonym.source is source)
            described.append(replace(whole, value=value, source=source, synonyms=synonyms))
    return described


def _is_wanted(name: str, names: Collection[str] | None) -> bool:
    return not names or name in names


def _described(
    definition: ConfigDef, value: ConfigValue, synonyms: tuple[DescribedSynonym, ...]
) -> DescribedConfig:
    """The entry of a topic, a group or a subscription; there, everything can be changed."""
    return DescribedConfig(
        name=definition.name,
        value=None if definition.sensitive else format_value(value),
        source=synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        type=definition.type,
        read_only=False,
        sensitive=definition.sensitive,
        synonyms=synonyms,
        documentation=definition.documentation,
    )


def _described_of_broker(broker: BrokerConfig, name: str) -> DescribedConfig:
    definition = find_broker_config(name)
    # What nobody knows might be a secret.
    sensitive = definition is None or definition.sensitive
    exact = BROKER_CONFIGS.get(name)
    synonyms = _broker_synonyms(broker, name, sensitive=sensitive)
    return DescribedConfig(
        name=name,
        value=None if sensitive else format_value(broker.value(name)),
        source=synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        type=ConfigType.UNKNOWN if definition is None else definition.type,
        read_only=exact is None or exact.update_mode is UpdateMode.READ_ONLY,
        sensitive=sensitive,
        synonyms=synonyms,
        documentation=None if definition is None else definition.documentation,
    )


def _own(
    definition: ConfigDef, value: ConfigValue, overrides: Mapping[str, str], source: ConfigSource
) -> tuple[DescribedSynonym, ...]:
    if definition.name not in overrides:
        return ()
    shown = None if definition.sensitive else format_value(value)
    return (DescribedSynonym(definition.name, shown, source),)


def _broker_synonyms(
    broker: BrokerConfig, name: str | None, *, sensitive: bool
) -> tuple[DescribedSynonym, ...]:
    """The places on the broker that have a value for ``name``, from the first of that name on."""
    if name is None:
        return ()
    synonyms = list(_all_broker_synonyms(broker, name, sensitive=sensitive))
    first = next((i for i, synonym in enumerate(synonyms) if synonym.name == name), len(synonyms))
    return tuple(synonyms[first:])


def _all_broker_synonyms(
    broker: BrokerConfig, name: str, *, sensitive: bool
) -> Iterator[DescribedSynonym]:
    layers = (
        (broker.overrides, ConfigSource.DYNAMIC_BROKER),
        (broker.default_overrides, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (broker.static, ConfigSource.STATIC_BROKER),
        (_DEFAULT_TEXTS, ConfigSource.DEFAULT),
    )
    for texts, source in layers:
        for synonym in broker_synonyms(name):
            if synonym in texts:
                yield DescribedSynonym(synonym, None if sensitive else texts[synonym], source)
