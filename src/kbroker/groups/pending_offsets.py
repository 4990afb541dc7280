"""Offsets of transactions that have not ended, by producer and by what they are about.

A producer writes offsets inside its transaction; they count when the marker says commit and are
forgotten when it says abort. Until then whoever wants to be sure is told to ask again (T13), and
neither the offset before them nor their group may expire (G3).

One partition can be in several open transactions: a zombie's, which will be aborted, and that of
the producer who took over.
"""

from collections.abc import Iterator

from kbroker.groups.committed_offset import CommittedOffset, OffsetPlace


class PendingOffsets:
    """What open transactions would commit."""

    def __init__(self) -> None:
        self._by_producer: dict[int, dict[OffsetPlace, CommittedOffset]] = {}
        # The same from the other side, so that a fetch need not look at every transaction.
        self._producers: dict[str, dict[OffsetPlace, set[int]]] = {}

    def __contains__(self, place: OffsetPlace) -> bool:
        return place in self._producers.get(place.group_id, ())

    def __iter__(self) -> Iterator[OffsetPlace]:
        """Everything that some transaction would commit, once each."""
        for places in self._producers.values():
            yield from places

    def of_group(self, group_id: str) -> list[OffsetPlace]:
        """What transactions would commit for one group."""
        return list(self._producers.get(group_id, ()))

    def group_ids(self) -> list[str]:
        """The groups for which a transaction is open."""
        return list(self._producers)

    def add(self, producer_id: int, place: OffsetPlace, committed: CommittedOffset) -> None:
        """A producer wrote an offset; a later one of the same transaction replaces it."""
        self._by_producer.setdefault(producer_id, {})[place] = committed
        places = self._producers.setdefault(place.group_id, {})
        places.setdefault(place, set()).add(producer_id)

    def end(self, producer_id: int) -> dict[OffsetPlace, CommittedOffset]:
        """The transaction of a producer ended; what it had pending, and has no more."""
        ended = self._by_producer.pop(producer_id, {})
        for place in ended:
            producers = self._producers[place.group_id][place]
            producers.discard(producer_id)
            if not producers:
                self._forget(place)
        return ended

    def drop(self, place: OffsetPlace) -> None:
        """An offset was deleted: no transaction that is open now brings it back."""
        for producer_id in self._producers.get(place.group_id, {}).get(place, ()):
            offsets = self._by_producer[producer_id]
            del offsets[place]
            if not offsets:
                del self._by_producer[producer_id]
        if place in self:
            self._forget(place)

    def _forget(self, place: OffsetPlace) -> None:
        places = self._producers[place.group_id]
        del places[place]
        if not places:
            del self._producers[place.group_id]
