"""Answers of several shards for one request: ready ones and later ones, put together."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from kbroker.broker.requests import Later

Part = TypeVar("Part")
Whole = TypeVar("Whole")


def gather(
    parts: Sequence[Part | Later[Part]], combine: Callable[[list[Part]], Whole]
) -> Whole | Later[Whole]:
    """``combine`` of all parts: at once if none is to come, else when the last one has come."""
    ready = [part for part in parts if not isinstance(part, Later)]
    if len(ready) == len(parts):
        return combine(ready)
    return _Gathering(parts, combine)


class _Gathering(Later[Whole], Generic[Part, Whole]):
    """Some parts are still to come."""

    __slots__ = ("_combine", "_parts")

    def __init__(
        self, parts: Sequence[Part | Later[Part]], combine: Callable[[list[Part]], Whole]
    ) -> None:
        self._parts = parts
        self._combine = combine

    async def finish(self) -> Whole:
        """Wait for one after the other; they are all under way."""
        found = [await part.finish() if isinstance(part, Later) else part for part in self._parts]
        return self._combine(found)
