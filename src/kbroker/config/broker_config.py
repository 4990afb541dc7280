"""The configs of one broker at one moment: parsed once, cheap to read, never changed.

A value comes from the first layer that has it, as in Kafka (KIP-226):

    1. set for this broker while it ran        DYNAMIC_BROKER
    2. set for all brokers while they ran      DYNAMIC_DEFAULT_BROKER
    3. server.properties and the command line  STATIC_BROKER
    4. Kafka's default                         DEFAULT

A change makes a new object (`with_dynamic`); who holds the old one keeps a
consistent view. Static values that are wrong stop the start with one ConfigError.
Dynamic ones were checked when they were set, so one that is wrong now (a config
whose meaning changed in a new release) is passed over and named in ``ignored``.
"""

from collections.abc import Mapping
from typing import Final, Self

from kbroker.config.broker_checks import check_broker
from kbroker.config.broker_configs import BROKER_CONFIGS, broker_synonyms, find_broker_config
from kbroker.config.definition import CLUSTER_WIDE, PER_BROKER, ConfigDef
from kbroker.config.errors import ConfigError
from kbroker.config.listeners import (
    Listener,
    advertised_listeners,
    parse_listeners,
    parse_protocols,
)
from kbroker.config.values import ConfigValue, Password

_DEFAULTS: Final = {name: definition.default for name, definition in BROKER_CONFIGS.items()}
_NONE: Final[Mapping[str, str]] = {}


class BrokerConfig:
    """Everything a broker is configured to do; ``BrokerConfig.of({})`` has Kafka's defaults."""

    __slots__ = ("_values", "default_overrides", "ignored", "overrides", "static", "unknown")

    def __init__(
        self,
        static: Mapping[str, str],
        default_overrides: Mapping[str, str],
        overrides: Mapping[str, str],
    ) -> None:
        self.static: Final = _with_both_ids(static)
        self.unknown: Final = tuple(name for name in static if find_broker_config(name) is None)
        """Static names that are no configs; Kafka only warns of them."""
        kept_defaults = {n: t for n, t in default_overrides.items() if _applies(n, t, for_all=True)}
        kept = {n: t for n, t in overrides.items() if _applies(n, t, for_all=False)}
        self.default_overrides: Final[Mapping[str, str]] = kept_defaults
        """What was set for all brokers while they ran."""
        self.overrides: Final[Mapping[str, str]] = kept
        """What was set for this broker while it ran."""
        self.ignored: Final = tuple(
            [name for name in default_overrides if name not in kept_defaults]
            + [name for name in overrides if name not in kept]
        )
        self._values: Final[dict[str, ConfigValue]] = dict(_DEFAULTS)
        for name, text in self.texts().items():
            definition = find_broker_config(name)
            if definition is not None:
                self._values[name] = _parse(definition, name, text)

    @classmethod
    def of(
        cls,
        static: Mapping[str, str],
        *,
        default_overrides: Mapping[str, str] = _NONE,
        overrides: Mapping[str, str] = _NONE,
    ) -> Self:
        """The configs of these layers; ConfigError if they are wrong alone or together."""
        config = cls(static, default_overrides, overrides)
        check_broker(config)
        return config

    def with_dynamic(
        self, *, default_overrides: Mapping[str, str], overrides: Mapping[str, str]
    ) -> Self:
        """The same static configs under other dynamic ones."""
        return type(self).of(self.static, default_overrides=default_overrides, overrides=overrides)

    def texts(self) -> dict[str, str]:
        """Every config that somebody set, with the text that counts.

        A text takes away its synonyms in the layers below: ``log.retention.ms`` set
        while the broker runs beats ``log.retention.hours`` of server.properties.
        """
        texts = dict(self.static)
        for layer in (self.default_overrides, self.overrides):
            for name, text in layer.items():
                for synonym in broker_synonyms(name, of_listeners=False):
                    texts.pop(synonym, None)
                texts[name] = text
        return texts

    def value(self, name: str) -> ConfigValue:
        """The value of ``name``, or None if it has none; KeyError if there is no such config."""
        return self._values[name]

    def listener_value(
        self, listener: str, name: str, *, mechanism: str | None = None
    ) -> ConfigValue:
        """The value of ``name`` for one listener (and SASL mechanism), else that for all."""
        prefix = f"listener.name.{listener.lower()}."
        if mechanism is not None:
            with_mechanism = f"{prefix}{mechanism.lower()}.{name}"
            if with_mechanism in self._values:
                return self._values[with_mechanism]
        return self._values.get(prefix + name, self._values[name])

    def get_bool(self, name: str) -> bool:
        """The value of a BOOLEAN config."""
        value = self._values[name]
        assert isinstance(value, bool)
        return value

    def get_int(self, name: str) -> int:
        """The value of an INT, SHORT or LONG config that has one."""
        value = self._values[name]
        assert isinstance(value, int)
        return value

    def get_float(self, name: str) -> float:
        """The value of a DOUBLE config."""
        value = self._values[name]
        assert isinstance(value, float)
        return value

    def get_text(self, name: str) -> str | None:
        """The value of a STRING or CLASS config."""
        value = self._values[name]
        assert value is None or isinstance(value, str)
        return value

    def get_list(self, name: str) -> tuple[str, ...]:
        """The value of a LIST config; one without a value is empty."""
        value = self._values[name]
        assert value is None or isinstance(value, tuple)
        return value or ()

    def get_secret(self, name: str) -> Password | None:
        """The value of a PASSWORD config."""
        value = self._values[name]
        assert value is None or isinstance(value, Password)
        return value

    @property
    def node_id(self) -> int:
        """The number of this broker; 1 where nobody gave it one."""
        value = self._values["node.id"]
        return value if isinstance(value, int) else 1

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """The data directories."""
        return self.get_list("log.dirs") or self.get_list("log.dir")

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """Where the broker listens.

        A server.properties for KRaft also names listeners of the controller. kbroker has
        none, so those of controller.listener.names are left out.
        """
        all_listeners = parse_listeners("listeners", self.get_list("listeners"), self._protocols())
        return self._without_controllers(all_listeners)

    @property
    def advertised_listeners(self) -> tuple[Listener, ...]:
        """The addresses clients are told."""
        texts = self.get_list("advertised.listeners")
        everywhere = parse_listeners("listeners", self.get_list("listeners"), self._protocols())
        advertised = advertised_listeners(everywhere, texts, self._protocols())
        return self._without_controllers(advertised)

    @property
    def inter_broker_listener(self) -> Listener:
        """The advertised listener that other brokers connect to.

        It is the one of inter.broker.listener.name, else that of the name of
        security.inter.broker.protocol, else the first.
        """
        advertised = self.advertised_listeners
        name = self.get_text("inter.broker.listener.name")
        wanted = name or self.get_text("security.inter.broker.protocol") or ""
        named = (one for one in advertised if one.name == wanted.upper())
        return next(named, advertised[0])

    def _protocols(self) -> dict[str, str]:
        """The protocol of each listener name; a controller's needs none if none are set."""
        text = self.get_text("listener.security.protocol.map") or ""
        protocols = parse_protocols(text)
        if text == _DEFAULTS["listener.security.protocol.map"]:
            for name in self.get_list("controller.listener.names"):
                protocols.setdefault(name.upper(), "PLAINTEXT")
        return protocols

    def _without_controllers(self, listeners: tuple[Listener, ...]) -> tuple[Listener, ...]:
        controllers = {name.upper() for name in self.get_list("controller.listener.names")}
        return tuple(listener for listener in listeners if listener.name not in controllers)

    @property
    def max_connections_per_ip_overrides(self) -> dict[str, int]:
        """The limits for single addresses."""
        text = self.get_text("max.connections.per.ip.overrides") or ""
        pairs = (entry.strip().rpartition(":") for entry in text.split(",") if entry.strip())
        return {host.strip(): int(count) for host, _, count in pairs}


def _with_both_ids(static: Mapping[str, str]) -> Mapping[str, str]:
    """``static`` with node.id and its old name broker.id, if it has one of them."""
    texts = dict(static)
    for name, other in (("node.id", "broker.id"), ("broker.id", "node.id")):
        if name in static and other not in static:
            texts[other] = static[name]
    return texts


def _applies(name: str, text: str, *, for_all: bool) -> bool:
    """Whether a dynamic config is one and has a possible value."""
    definition = find_broker_config(name)
    modes = (CLUSTER_WIDE,) if for_all else (CLUSTER_WIDE, PER_BROKER)
    if definition is None or definition.update_mode not in modes:
        # What Kafka does not know may belong to somebody's plugin and is kept.
        return definition is None
    try:
        _parse(definition, name, text)
    except ConfigError:
        return False
    return True


def _parse(definition: ConfigDef, name: str, text: str) -> ConfigValue:
    """The value of ``text``, with the full name of a listener's config in the error."""
    try:
        return definition.parse(text)
    except ConfigError as error:
        raise type(error)(str(error).replace(definition.name, name, 1)) from None
