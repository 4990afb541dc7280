"""Answers that are true until the cluster changes, kept as the bytes they are sent as.

Clients ask for the same metadata again and again: all of them, every few minutes, and at once after
a restart. The answer depends on the cluster image alone, and making and encoding a thousand
partitions of it takes a millisecond. So the answer of a question is kept until the image moves on;
its revision says so.
"""

from collections.abc import Callable, Hashable

from kbroker.wire import Part
from kbroker.wire.messages.metadata import MetadataResponse

# Questions that differ: a cluster has few, each listener and version its own.
_MAX_ANSWERS = 64
# An answer of ten thousand partitions takes half a megabyte.
_MAX_BYTES = 1 << 24


class KeptResponse(MetadataResponse):
    """An answer to a question of one version, encoded once. Nobody may change it afterwards."""

    __slots__ = ("_parts",)

    def encode(self, version: int) -> list[Part]:
        """See `Message`; the list is the caller's, the bytes are shared."""
        if not hasattr(self, "_parts"):
            self._parts: list[Part] = self.encoder(version)(self)
        return self._parts.copy()


class KeptAnswers:
    """The answers of one image, by what was asked."""

    __slots__ = ("_answers", "_bytes", "_revision")

    def __init__(self) -> None:
        self._answers: dict[Hashable, KeptResponse] = {}
        self._bytes = 0
        self._revision = -1

    def get(
        self,
        question: Hashable,
        answer: Callable[[], KeptResponse],
        *,
        version: int,
        revision: int,
    ) -> KeptResponse:
        """The answer that was kept for ``question`` at this revision of the image, or a new one.

        ``question`` holds all that the answer depends on besides the image, the version too.
        """
        if revision != self._revision:
            self._forget()
            self._revision = revision
        kept = self._answers.get(question)
        if kept is None:
            kept = answer()
            self._bytes += sum(map(len, kept.encode(version)))
            if len(self._answers) >= _MAX_ANSWERS or self._bytes > _MAX_BYTES:
                self._forget()
            self._answers[question] = kept
        return kept

    def _forget(self) -> None:
        self._answers.clear()
        self._bytes = 0
