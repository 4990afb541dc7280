"""One config: its name, type, default, meaning, and who may change it when.

The definition modules beside this one are tables of `ConfigDef`. Everything else
about configs (typed views, DescribeConfigs, AlterConfigs) is read off these
tables, so a value is parsed in one place and a new config is one entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from kbroker.config.validators import Validator
from kbroker.config.values import ConfigType, ConfigValue, parse_value

# The tables are long, so their rows use short names.
BOOLEAN: Final = ConfigType.BOOLEAN
STRING: Final = ConfigType.STRING
INT: Final = ConfigType.INT
SHORT: Final = ConfigType.SHORT
LONG: Final = ConfigType.LONG
DOUBLE: Final = ConfigType.DOUBLE
LIST: Final = ConfigType.LIST
CLASS: Final = ConfigType.CLASS
PASSWORD: Final = ConfigType.PASSWORD

MAX_INT = 2**31 - 1
MAX_LONG = 2**63 - 1

# The documentation of what a Java broker needs and kbroker does not.
NO_EFFECT = "Accepted for compatibility; it has no effect in kbroker."


class UpdateMode(Enum):
    """Where a broker config can be changed while the broker runs."""

    READ_ONLY = "read-only"  # not at all: only by a restart
    PER_BROKER = "per-broker"  # for one broker at a time
    CLUSTER_WIDE = "cluster-wide"  # for one broker, or as the default of all


CLUSTER_WIDE: Final = UpdateMode.CLUSTER_WIDE
PER_BROKER: Final = UpdateMode.PER_BROKER


@dataclass(frozen=True, slots=True)
class Synonym:
    """A broker config that gives a topic or group config its value, in units of ``factor``."""

    name: str
    factor: int = 1


@dataclass(frozen=True, slots=True)
class ConfigDef:
    """All there is to know about one config.

    ``default`` is the typed value, None where nothing is set. A ``required`` config
    has no default at all. An ``internal`` one is shown only where somebody set it.
    ``synonyms`` stand in the order they are asked for a value.
    """

    name: str
    type: ConfigType
    default: ConfigValue
    documentation: str
    validator: Validator | None = None
    update_mode: UpdateMode = UpdateMode.READ_ONLY
    internal: bool = False
    required: bool = False
    synonyms: tuple[Synonym, ...] = ()

    @property
    def sensitive(self) -> bool:
        """Whether the value is a secret that is never shown."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str) -> ConfigValue:
        """The typed and validated value of ``text``; ConfigError if it is not allowed."""
        value = parse_value(self.type, self.name, text)
        return value if self.validator is None else self.validator.check(self.name, value)


def table(*definitions: ConfigDef) -> Mapping[str, ConfigDef]:
    """Definitions by name, in the order of names; each name stands there once."""
    by_name = {definition.name: definition for definition in definitions}
    assert len(by_name) == len(definitions), "a config is defined twice"
    return dict(sorted(by_name.items()))
