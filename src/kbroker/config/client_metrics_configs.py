"""Every config of a client metrics subscription (KIP-714).

A subscription asks the clients that match it to push some metrics from time to time.
"""

import re
from collections.abc import Mapping
from typing import Final

from kbroker.config.definition import INT, LIST, ConfigDef, table
from kbroker.config.errors import ConfigError, ConfigRequestError
from kbroker.config.validators import ListOf

CLIENT_METRICS_CONFIGS = table(
    ConfigDef("interval.ms", INT, 300_000, "How often matching clients push their metrics."),
    ConfigDef(
        "match",
        LIST,
        (),
        "Which clients are asked, as pairs of a property and a pattern.",
        ListOf(),
    ),
    ConfigDef(
        "metrics", LIST, (), "Prefixes of the metrics that are asked for; * asks for all.", ListOf()
    ),
)

_LOWEST_INTERVAL_MS: Final = 100
_HIGHEST_INTERVAL_MS: Final = 3_600_000
_PROPERTIES: Final = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)


def check_client_metrics(overrides: Mapping[str, str]) -> None:
    """Refuse a subscription that Kafka would refuse.

    The range of the interval is checked here and not by a validator because Kafka
    answers a wrong one as a wrong request.
    """
    for name in overrides:
        if name not in CLIENT_METRICS_CONFIGS:
            raise ConfigRequestError(f"Unknown client metrics configuration: {name}")
    values = {name: CLIENT_METRICS_CONFIGS[name].parse(text) for name, text in overrides.items()}
    interval_ms = values.get("interval.ms")
    if isinstance(interval_ms, int) and not (
        _LOWEST_INTERVAL_MS <= interval_ms <= _HIGHEST_INTERVAL_MS
    ):
        raise ConfigRequestError(
            f"Invalid value {interval_ms} for interval.ms, "
            "interval must be between 100 and 3600000 (1 hour)"
        )
    patterns = values.get("match")
    if isinstance(patterns, tuple):
        parse_match(patterns)


def parse_match(patterns: tuple[str, ...]) -> dict[str, re.Pattern[str]]:
    """The pattern for each client property that ``match`` names; ConfigError if one is illegal.

    The patterns are Java's; the common part of both languages is what people write here.
    """
    matchers = {}
    for pattern in patterns:
        name, equals, expression = pattern.partition("=")
        if name.strip() not in _PROPERTIES or not equals or not expression or "=" in expression:
            raise ConfigError(f"Illegal client matching pattern: {pattern}")
        try:
            matchers[name.strip()] = re.compile(expression.strip())
        except re.error:
            raise ConfigError(f"Illegal client matching pattern: {pattern}") from None
    return matchers
