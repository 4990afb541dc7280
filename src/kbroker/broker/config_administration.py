"""Describing and altering the configs of topics, brokers, groups and client metrics.

`kbroker.config` knows what configs there are and which values they take, `kbroker.cluster` which
resources exist and where overrides are stored. Here the two meet, with the order of checks of
Kafka's ConfigAdminManager and ConfigHelper. The levels of loggers are no configs, but Kafka's
requests treat them as such, and so must we (KIP-412).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from kbroker import cluster
from kbroker.broker.carrying_out import carry_out
from kbroker.broker.control import Control
from kbroker.broker.logger_levels import alter_logger_levels, logger_levels
from kbroker.cluster import (
    ClusterImage,
    ConfigResource,
    Decision,
    InvalidTopicName,
    Refused,
    ResourceType,
    controller_fence,
    validate_topic_name,
)
from kbroker.config import BrokerConfig, ConfigError, ConfigRequestError
from kbroker.config.alter import (
    Change,
    alter_broker,
    alter_client_metrics,
    alter_group,
    alter_topic,
    check_form,
)
from kbroker.config.describe import (
    ConfigSource,
    DescribedConfig,
    describe_broker,
    describe_broker_defaults,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from kbroker.config.values import ConfigType


class ResourceKind(IntEnum):
    """What has configs, with its number in requests (Kafka's ConfigResource.Type)."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


_STORED: Final = {
    ResourceKind.TOPIC: ResourceType.TOPIC,
    ResourceKind.BROKER: ResourceType.BROKER,
    ResourceKind.CLIENT_METRICS: ResourceType.CLIENT_METRICS,
    ResourceKind.GROUP: ResourceType.GROUP,
}
_ONLY_ONCE: Final = Refused("INVALID_REQUEST", "Each resource must appear at most once.")
_NOTHING: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Alteration:
    """What somebody wants of one resource; ``kind`` may be a number that nobody knows."""

    kind: int
    name: str
    changes: Sequence[Change]


class ConfigAdministration:
    """The configs of all resources, as one broker sees them."""

    def __init__(self, control: Control, config: Callable[[], BrokerConfig], node_id: int) -> None:
        self._control = control
        self._config = config
        self._node_id = node_id

    # Describing.

    def describe(
        self, kind: ResourceKind, name: str, keys: Collection[str] | None = None
    ) -> list[DescribedConfig] | Refused:
        """The configs of one resource; only ``keys``, or all if there are none."""
        wanted = frozenset(keys) if keys else None
        match kind:
            case ResourceKind.TOPIC:
                return self._describe_topic(name, wanted)
            case ResourceKind.BROKER:
                return self._describe_broker(name, wanted)
            case ResourceKind.BROKER_LOGGER:
                return self._describe_loggers(name, wanted)
            case ResourceKind.CLIENT_METRICS:
                if not name:
                    message = "Client metrics subscription name must not be empty"
                    return Refused("INVALID_REQUEST", message)
                return describe_client_metrics(self._overrides(kind, name), wanted)
            case ResourceKind.GROUP:
                if not name:
                    return Refused("INVALID_REQUEST", "Group name must not be empty")
                return describe_group(self._config(), self._overrides(kind, name), wanted)

    def _overrides(self, kind: ResourceKind, name: str) -> Mapping[str, str]:
        return self._control.image.configs.get(ConfigResource(_STORED[kind], name), _NOTHING)

    def _describe_topic(
        self, name: str, keys: Collection[str] | None
    ) -> list[DescribedConfig] | Refused:
        try:
            validate_topic_name(name)
        except InvalidTopicName as error:
            return Refused(error.kafka_error, str(error))
        topic = self._control.image.topics.get(name)
        if topic is None:
            return Refused("UNKNOWN_TOPIC_OR_PARTITION")
        return describe_topic(self._config(), topic.configs, keys)

    def _describe_broker(
        self, name: str, keys: Collection[str] | None
    ) -> list[DescribedConfig] | Refused:
        if not name:
            return describe_broker_defaults(self._config(), keys)
        refused = self._check_broker_id(name, f"{self._node_id} or empty string,")
        return refused or describe_broker(self._config(), keys)

    def _describe_loggers(
        self, name: str, keys: Collection[str] | None
    ) -> list[DescribedConfig] | Refused:
        if not name:
            return Refused("INVALID_REQUEST", "Broker id must not be empty")
        refused = self._check_broker_id(name, f"{self._node_id}")
        if refused is not None:
            return refused
        return [
            DescribedConfig(
                name=logger,
                value=level,
                source=ConfigSource.DYNAMIC_BROKER_LOGGER,
                type=ConfigType.UNKNOWN,
                read_only=False,
                sensitive=False,
                synonyms=(),
                documentation="",
            )
            for logger, level in logger_levels().items()
            if keys is None or logger in keys
        ]

    def _check_broker_id(self, name: str, expected: str) -> Refused | None:
        node_id = _integer(name)
        if node_id is None:
            return Refused("INVALID_REQUEST", f"Broker id must be an integer, but it is: {name}")
        if node_id != self._node_id:
            message = f"Unexpected broker id, expected {expected} but received {name}"
            return Refused("INVALID_REQUEST", message)
        return None

    def resources(self, kind: ResourceKind) -> list[str]:
        """The names of all resources of one kind; groups and client metrics need overrides."""
        image = self._control.image
        match kind:
            case ResourceKind.TOPIC:
                return list(image.topics)
            case ResourceKind.BROKER | ResourceKind.BROKER_LOGGER:
                return [str(node_id) for node_id in image.brokers]
            case _:
                stored = _STORED[kind]
                return [resource.name for resource in image.configs if resource.type is stored]

    # Altering.

    async def alter(
        self, alterations: Sequence[Alteration], *, incremental: bool, validate_only: bool = False
    ) -> list[Refused | None]:
        """Alter configs; one answer for each alteration, None where it is done.

        With ``incremental`` the changes are made to what a resource sets now, otherwise they
        replace it. Raises NotCarriedOut if nothing can be changed now.
        """
        times = Counter((each.kind, each.name) for each in alterations)
        answers: dict[tuple[int, str], Refused | None] = {}
        stored: dict[ConfigResource, Alteration] = {}
        for each in alterations:
            key = (each.kind, each.name)
            refused = _ONLY_ONCE if times[key] > 1 else _check_changes(each.changes)
            if refused is not None:
                answers[key] = refused
            elif each.kind == ResourceKind.BROKER_LOGGER and incremental:
                answers[key] = self._alter_loggers(each, validate_only=validate_only)
            elif (refused := self._check_resource(each)) is not None:
                answers[key] = refused
            else:
                stored[ConfigResource(_STORED[ResourceKind(each.kind)], each.name)] = each
        if stored:
            results = await carry_out(
                self._control,
                lambda image: self._decide(
                    image, stored, incremental=incremental, validate_only=validate_only
                ),
            )
            for resource, each in stored.items():
                answers[each.kind, each.name] = results[resource]
        return [answers[each.kind, each.name] for each in alterations]

    def _decide(
        self,
        image: ClusterImage,
        stored: Mapping[ConfigResource, Alteration],
        *,
        incremental: bool,
        validate_only: bool,
    ) -> Decision[dict[ConfigResource, Refused | None]]:
        """Give each resource its new overrides; the changes are made to those in ``image``."""
        results: dict[ConfigResource, Refused | None] = {}
        overrides: dict[ConfigResource, Mapping[str, str]] = {}
        for resource, alteration in stored.items():
            current = image.configs.get(resource, _NOTHING) if incremental else _NOTHING
            try:
                overrides[resource] = self._altered(resource, current, alteration.changes)
            except ConfigRequestError as error:
                results[resource] = Refused("INVALID_REQUEST", str(error))
            except ConfigError as error:
                results[resource] = Refused("INVALID_CONFIG", str(error))
        fence = controller_fence(image.controller_epoch)
        decision = cluster.alter_configs(image, overrides, fence=fence, validate_only=validate_only)
        return Decision({**results, **decision.results}, decision.change)

    def _altered(
        self, resource: ConfigResource, current: Mapping[str, str], changes: Sequence[Change]
    ) -> Mapping[str, str]:
        match resource.type:
            case ResourceType.TOPIC:
                return alter_topic(self._config(), current, changes)
            case ResourceType.BROKER:
                return alter_broker(self._config(), current, changes, for_all=not resource.name)
            case ResourceType.GROUP:
                return alter_group(self._config(), current, changes)
            case ResourceType.CLIENT_METRICS:
                return alter_client_metrics(current, changes)

    def _check_resource(self, alteration: Alteration) -> Refused | None:
        """Why no resource of this kind and name can have overrides."""
        name = alteration.name
        match alteration.kind:
            case ResourceKind.TOPIC:
                if not name:
                    return Refused("INVALID_REQUEST", "Default topic resources are not allowed.")
                try:
                    validate_topic_name(name)
                except InvalidTopicName as error:
                    return Refused(error.kafka_error, str(error))
                return None
            case ResourceKind.BROKER:
                if not name:
                    return None  # All brokers have no name.
                return self._check_own_id(name, "Unexpected broker id, expected {}, but")
            case ResourceKind.GROUP:
                if not name:
                    return Refused("INVALID_REQUEST", "Default group resources are not allowed.")
                return None
            case ResourceKind.CLIENT_METRICS:
                if not name:
                    return Refused("INVALID_REQUEST", "Subscription name can't be empty")
                return None
            case _:
                return Refused("INVALID_REQUEST", f"Unknown resource type {alteration.kind}")

    def _alter_loggers(self, alteration: Alteration, *, validate_only: bool) -> Refused | None:
        refused = self._check_own_id(alteration.name, "Unexpected node id. Expected {}, but")
        return refused or alter_logger_levels(alteration.changes, validate_only=validate_only)

    def _check_own_id(self, name: str, unexpected: str) -> Refused | None:
        """A broker alters only itself."""
        node_id = _integer(name)
        if node_id is None:
            return Refused("INVALID_REQUEST", f"Node id must be an integer, but it is: {name}")
        if node_id != self._node_id:
            message = f"{unexpected.format(self._node_id)} received {name}"
            return Refused("INVALID_REQUEST", message)
        return None


def _check_changes(changes: Sequence[Change]) -> Refused | None:
    """What is wrong with changes, whatever they are about."""
    try:
        check_form(changes)
    except ConfigRequestError as error:
        return Refused("INVALID_REQUEST", str(error))
    return None


def _integer(text: str) -> int | None:
    """The number that ``text`` is to Java, which takes neither blanks nor underscores."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 10 else None
