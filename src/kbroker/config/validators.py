"""What a config may be beyond its type: ranges, choices, the shape of lists.

A validator takes a parsed value and returns the one to keep, or raises a
ConfigError with the words Kafka uses. Only values that somebody set are
validated; defaults are taken as they are.
"""

import re
from dataclasses import dataclass
from typing import Protocol

from kbroker.config.errors import ConfigError
from kbroker.config.values import ConfigValue, format_double


class Validator(Protocol):
    """Anything that can judge a parsed value."""

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """The value to keep; ConfigError if it is not allowed."""


@dataclass(frozen=True, slots=True)
class Range:
    """A number from ``lowest`` to ``highest``, both included; None is without limit."""

    lowest: int | float
    highest: int | float | None = None

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """Refuse a number outside."""
        assert isinstance(value, int | float)
        if value < self.lowest:
            reason = f"Value must be at least {self.lowest}"
        elif self.highest is not None and value > self.highest:
            reason = f"Value must be no more than {self.highest}"
        else:
            return value
        shown = format_double(value) if isinstance(value, float) else str(value)
        raise ConfigError.of_value(name, shown, reason)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A text out of a few."""

    choices: tuple[str, ...]
    any_case: bool = False

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """Refuse every other text."""
        assert isinstance(value, str)
        if (value.upper() if self.any_case else value) in self.choices:
            return value
        how = " (case insensitive)" if self.any_case else ""
        reason = f"String must be one of{how}: {', '.join(self.choices)}"
        raise ConfigError.of_value(name, value, reason)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list without empty entries, of ``choices`` or of anything; repeated entries count once."""

    choices: tuple[str, ...] = ()
    may_be_empty: bool = True

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """The list without its repetitions."""
        assert isinstance(value, tuple)
        if not value and not self.may_be_empty:
            valid = f"[{', '.join(self.choices)}]" if self.choices else "any non-empty value"
            raise ConfigError(
                f"Configuration '{name}' must not be empty. Valid values include: {valid}"
            )
        for entry in value:
            if not entry:
                raise ConfigError(f"Configuration '{name}' values must not be empty.")
            if self.choices:
                OneOf(self.choices).check(name, entry)
        return tuple(dict.fromkeys(value))


class NonEmpty:
    """A text of at least one character."""

    __slots__ = ()

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """Refuse the empty text."""
        if value == "":
            raise ConfigError.of_value(name, "", "String must be non-empty")
        return value


class GzipLevel:
    """What zlib takes as a level: 1 to 9, or -1 for its own choice."""

    __slots__ = ()

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """Refuse 0, which would not compress at all, and everything outside."""
        assert isinstance(value, int)
        if value == -1 or 1 <= value <= 9:
            return value
        reason = "Value must be between 1 and 9 or equal to -1"
        raise ConfigError.of_value(name, str(value), reason)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A list whose entries all match a regular expression.

    ``problem`` is said of an entry that does not, with ``{name}`` and ``{entry}`` filled in.
    """

    pattern: str
    problem: str

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """Refuse a list with an entry of another shape."""
        assert isinstance(value, tuple)
        for entry in value:
            if re.fullmatch(self.pattern, entry) is None:
                raise ConfigError(self.problem.replace("{name}", name).replace("{entry}", entry))
        return value


class ThrottledReplicas:
    """``*`` for all replicas, or pairs ``partition:broker``."""

    __slots__ = ()

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """Refuse other entries; Kafka skips empty ones, and so do we."""
        assert isinstance(value, tuple)
        shown = ",".join(value)
        if shown == "*" or re.fullmatch(r"([0-9]+:[0-9]+)?(,[0-9]+:[0-9]+)*,*", shown):
            return value
        reason = (
            f"{name} must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        )
        raise ConfigError.of_value(name, f"[{', '.join(value)}]", reason)


class OffsetReset:
    """``earliest``, ``latest``, or ``by_duration:`` with a duration that is not negative."""

    __slots__ = ()

    def check(self, name: str, value: ConfigValue) -> ConfigValue:
        """Refuse all else."""
        assert isinstance(value, str)
        if value in ("earliest", "latest"):
            return value
        kind, _, duration = value.partition(":")
        if kind == "by_duration" and _ISO_DURATION.fullmatch(duration):
            return value
        reason = (
            f"Invalid value `{value}` for configuration {name}. The value must be either "
            "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
        )
        raise ConfigError.of_value(name, value, reason)


# Days and time of ISO 8601, in either case, with at least one number and none after a bare T.
_ISO_DURATION = re.compile(
    r"(?i:P(?=[0-9T])([0-9]{1,9}D)?(T(?=[0-9])([0-9]{1,9}H)?([0-9]{1,9}M)?"
    r"([0-9]{1,18}([.,][0-9]{0,9})?S)?)?)"
)
