"""Changes to configs: AlterConfigs and IncrementalAlterConfigs, checked before they are made.

Each function takes what a resource sets now and the changes to it, and returns
what it sets then, or raises with Kafka's words: ConfigError (INVALID_CONFIG) or
ConfigRequestError (INVALID_REQUEST). Nothing is half done. The older AlterConfigs
sets everything anew: give it no current overrides, and SET for each entry.

That the resource exists and has a legal name is for the caller to check.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.broker_configs import BROKER_CONFIGS, base_name, find_broker_config
from kbroker.config.client_metrics_configs import check_client_metrics
from kbroker.config.definition import ConfigDef, UpdateMode
from kbroker.config.errors import ConfigError, ConfigRequestError
from kbroker.config.group_config import check_group
from kbroker.config.group_configs import GROUP_CONFIGS
from kbroker.config.topic_config import check_topic
from kbroker.config.topic_configs import TOPIC_CONFIGS
from kbroker.config.values import ConfigType, format_value

# A longer text cannot be written as a string of the protocol; APPEND could make one.
_LONGEST_VALUE_BYTES: Final = 32_767

# These can change while the broker runs only for one listener.
_ONLY_FOR_LISTENERS: Final = frozenset(
    {
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
# And these are the only ones that can change for a listener of all brokers.
_LISTENERS_OF_ALL: Final = frozenset(
    {"max.connections", "max.connection.creation.rate", "num.network.threads"}
)


class Operation(IntEnum):
    """What to do with one config, with its number in IncrementalAlterConfigs."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


_OPERATIONS: Final = frozenset(Operation)


@dataclass(frozen=True, slots=True)
class Change:
    """One change as a client asks for it; nothing about it is checked yet."""

    name: str
    operation: int
    value: str | None


def replacement(entries: Iterable[tuple[str, str | None]]) -> list[Change]:
    """The entries of AlterConfigs as changes to a resource that sets nothing."""
    return [Change(name, Operation.SET, value) for name, value in entries]


def alter_topic(
    broker: BrokerConfig, current: Mapping[str, str], changes: Sequence[Change]
) -> dict[str, str]:
    """What a topic sets after ``changes``."""
    check_form(changes)
    overrides = _apply(current, changes, TOPIC_CONFIGS)
    check_topic(broker, overrides)
    return overrides


def alter_group(
    broker: BrokerConfig, current: Mapping[str, str], changes: Sequence[Change]
) -> dict[str, str]:
    """What a group sets after ``changes``."""
    check_form(changes)
    overrides = _apply(current, changes, GROUP_CONFIGS)
    check_group(broker, overrides)
    return overrides


def alter_client_metrics(current: Mapping[str, str], changes: Sequence[Change]) -> dict[str, str]:
    """What a client metrics subscription sets after ``changes``."""
    check_form(changes)
    # Kafka does not let anybody append to these, although two of them are lists.
    overrides = _apply(current, changes, {})
    check_client_metrics(overrides)
    return overrides


def alter_broker(
    broker: BrokerConfig, current: Mapping[str, str], changes: Sequence[Change], *, for_all: bool
) -> dict[str, str]:
    """What is set on one broker, or ``for_all`` as their default, after ``changes``.

    Names that nobody knows are accepted, as Kafka does for the sake of plugins.
    """
    check_form(changes)
    for change in changes:
        _check_list_of_broker(change)
    overrides = _apply(current, changes, BROKER_CONFIGS)
    _check_dynamic(overrides)
    try:
        for name, text in overrides.items():
            definition = find_broker_config(name)
            if definition is not None:
                definition.parse(text)
        if for_all:
            _check_for_all(overrides)
            broker.with_dynamic(default_overrides=overrides, overrides=broker.overrides)
        else:
            broker.with_dynamic(default_overrides=broker.default_overrides, overrides=overrides)
    except ConfigError as error:
        raise ConfigRequestError(str(error)) from None
    return overrides


def check_form(changes: Sequence[Change]) -> None:
    """Refuse changes that make no sense whatever they are about."""
    if len({change.name for change in changes}) != len(changes):
        raise ConfigRequestError("Error due to duplicate config keys")
    without_value = [
        change.name
        for change in changes
        if change.value is None and change.operation != Operation.DELETE
    ]
    if without_value:
        raise ConfigRequestError(f"Null value not supported for : {', '.join(without_value)}")
    for change in changes:
        if change.operation not in _OPERATIONS:
            raise ConfigRequestError(f"Unknown operations type {change.operation}")


def _apply(
    current: Mapping[str, str], changes: Sequence[Change], definitions: Mapping[str, ConfigDef]
) -> dict[str, str]:
    """``current`` after ``changes``, before anybody looks at the values."""
    overrides = dict(current)
    for change in changes:
        if change.operation == Operation.DELETE:
            overrides.pop(change.name, None)
            continue
        assert change.value is not None, "the form was checked"
        value = change.value
        if change.operation != Operation.SET:
            value = _apply_to_list(overrides.get(change.name), change, definitions)
        if len(value.encode()) > _LONGEST_VALUE_BYTES:
            raise ConfigError(
                "The configuration value cannot be added because it exceeds the maximum value "
                f"size of {_LONGEST_VALUE_BYTES} bytes."
            )
        overrides[change.name] = value
    return overrides


def _apply_to_list(text: str | None, change: Change, definitions: Mapping[str, ConfigDef]) -> str:
    """The list of ``text`` (else the default one) with entries appended or subtracted."""
    definition = definitions.get(change.name)
    if definition is None or definition.type is not ConfigType.LIST:
        raise ConfigError(
            f"Can't {Operation(change.operation).name} to key {change.name} "
            "because its type is not LIST."
        )
    if text is None:
        text = format_value(definition.default) or ""
    entries = [entry for entry in text.split(",") if entry]
    assert change.value is not None, "the form was checked"
    for entry in change.value.split(","):
        if change.operation == Operation.SUBTRACT:
            if entry in entries:
                entries.remove(entry)
        elif entry not in entries:
            entries.append(entry)
    return ",".join(entries)


def _check_list_of_broker(change: Change) -> None:
    """Kafka has its own words where a broker config is no list."""
    if change.operation not in (Operation.APPEND, Operation.SUBTRACT):
        return
    definition = BROKER_CONFIGS.get(change.name)
    if definition is None:
        raise ConfigError(f"Unknown config name: {change.name}")
    if definition.type is not ConfigType.LIST:
        operation = Operation(change.operation).name.lower()
        raise ConfigError(f"Config value {operation} is not allowed for config key: {change.name}")


def _check_dynamic(overrides: Mapping[str, str]) -> None:
    """Refuse configs that cannot change while the broker runs."""
    fixed = [
        name
        for name in overrides
        if name in BROKER_CONFIGS and BROKER_CONFIGS[name].update_mode is UpdateMode.READ_ONLY
    ]
    if fixed:
        raise ConfigRequestError(f"Cannot update these configs dynamically: {_shown(fixed)}")
    without_listener = [name for name in overrides if name in _ONLY_FOR_LISTENERS]
    if without_listener:
        raise ConfigRequestError(
            "These security configs can be dynamically updated only per-listener using the "
            f"listener prefix: {_shown(without_listener)}"
        )


def _check_for_all(overrides: Mapping[str, str]) -> None:
    """Refuse defaults for all brokers that only one broker can have."""
    of_one = [name for name in overrides if _belongs_to_one_broker(name)]
    if of_one:
        raise ConfigRequestError(
            "Cannot update these configs at default cluster level, broker id must be specified: "
            + _shown(of_one)
        )


def _belongs_to_one_broker(name: str) -> bool:
    base = base_name(name)
    if base is not None:
        return base not in _LISTENERS_OF_ALL
    definition = BROKER_CONFIGS.get(name)
    return definition is not None and definition.update_mode is UpdateMode.PER_BROKER


def _shown(names: Iterable[str]) -> str:
    return f"[{', '.join(sorted(names))}]"
