"""The levels of the broker's loggers, seen and changed while it runs (KIP-412).

Loggers are called what log lines call them (``server``, ``control``); ``root`` is the one above
them all. Levels have Kafka's names. They are this process's own and gone when it ends.
"""

import logging
from collections.abc import Sequence
from typing import Final

from kbroker.cluster import Refused
from kbroker.config.alter import Change, Operation

ROOT: Final = "root"

_PREFIX: Final = "kbroker"
_LEVELS: Final = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


def logger_levels() -> dict[str, str]:
    """The level that counts for each logger, by name."""
    return {name: _level_of(logger) for name, logger in _loggers().items()}


def alter_logger_levels(changes: Sequence[Change], *, validate_only: bool) -> Refused | None:
    """Set levels, or take them away so that those above count; all or none.

    The form of ``changes`` was checked: known operations, and values where they are needed.
    """
    loggers = _loggers()
    for change in changes:
        refused = _check(change, loggers)
        if refused is not None:
            return refused
    if not validate_only:
        for change in changes:
            level = logging.NOTSET
            if change.operation == Operation.SET:
                assert change.value is not None, "it was checked"
                level = _LEVELS[change.value]
            loggers[change.name].setLevel(level)
    return None


def _loggers() -> dict[str, logging.Logger]:
    found = {ROOT: logging.getLogger(_PREFIX)}
    for name in sorted(logging.root.manager.loggerDict):
        if name.startswith(f"{_PREFIX}."):
            found[name.removeprefix(f"{_PREFIX}.")] = logging.getLogger(name)
    return found


def _level_of(logger: logging.Logger) -> str:
    """The lowest of Kafka's levels that does not lie below the one that counts."""
    effective = logger.getEffectiveLevel()
    return next((name for name, level in _LEVELS.items() if effective <= level), "FATAL")


def _check(change: Change, loggers: dict[str, logging.Logger]) -> Refused | None:
    name, operation = change.name, change.operation
    if operation in (Operation.APPEND, Operation.SUBTRACT):
        word = Operation(operation).name
        message = f"{word} operation is not allowed for the BROKER_LOGGER resource"
        return Refused("INVALID_REQUEST", message)
    if name not in loggers:
        return Refused("INVALID_CONFIG", f"Logger {name} does not exist!")
    if operation == Operation.DELETE:
        if name == ROOT:
            message = "Removing the log level of the root logger is not allowed"
            return Refused("INVALID_REQUEST", message)
        return None
    if change.value not in _LEVELS:
        return Refused(
            "INVALID_CONFIG",
            f"Cannot set the log level of {name} to {change.value} as it is not a supported log "
            f"level. Valid log levels are {', '.join(sorted(_LEVELS))}",
        )
    return None
