"""What producers were told and what readers found, and whether the two agree.

A test writes down every send of one producer in its order (`sent`), every acknowledgement
(`acknowledged`), and in the end all records of all partitions (`read`). `anomalies` then names
whatever a log must never do, in the words of Jepsen's tests of Kafka:

    lost                  acknowledged, and not there
    inconsistent offset   acknowledged at one offset and there at another, or two values
                          acknowledged at one
    duplicate             one value at two offsets
    reordered             sent later by the same producer, and there at a lower offset
    phantom               there, and never sent
    gap                   offsets that do not follow each other; a log without transactions and
                          compaction has none

A value that was sent and not acknowledged may be there or not: its producer cannot know.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    """A record's partition and offset."""

    topic: str
    partition: int
    offset: int


class Anomaly(NamedTuple):
    """What is wrong, and the words to find it by."""

    kind: str
    detail: str


Key = tuple[str, int]


@dataclass
class History:
    """All that happened to the values of one test; a value is sent once."""

    _sends: dict[Key, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    _acknowledged: dict[bytes, Place] = field(default_factory=dict)
    _found: dict[Key, list[tuple[int, bytes]]] = field(default_factory=lambda: defaultdict(list))

    @property
    def acknowledged_count(self) -> int:
        return len(self._acknowledged)

    def sent(self, topic: str, partition: int, value: bytes) -> None:
        """The producer handed this value over, after all that it has sent there before."""
        self._sends[topic, partition].append(value)

    def acknowledged(self, value: bytes, place: Place) -> None:
        """The producer was told where the value is."""
        assert value not in self._acknowledged, f"{value!r} was acknowledged twice"
        self._acknowledged[value] = place

    def read(self, topic: str, partition: int, records: Sequence[tuple[int, bytes]]) -> None:
        """A reader found these offsets and values, from the first of the partition to its end."""
        self._found[topic, partition] += records

    def anomalies(self) -> list[Anomaly]:
        """Everything that is wrong; nothing if the history is one of a sound log."""
        places: dict[bytes, list[Place]] = defaultdict(list)
        for (topic, partition), records in self._found.items():
            for offset, value in records:
                places[value].append(Place(topic, partition, offset))
        return [
            *self._lost(places),
            *self._inconsistent(places),
            *_duplicates(places),
            *self._reordered(),
            *self._phantoms(places),
            *self._gaps(),
        ]

    def _lost(self, places: dict[bytes, list[Place]]) -> list[Anomaly]:
        return [
            Anomaly("lost", f"{value!r}, acknowledged at {place}")
            for value, place in self._acknowledged.items()
            if value not in places
        ]

    def _inconsistent(self, places: dict[bytes, list[Place]]) -> list[Anomaly]:
        found = [
            Anomaly("inconsistent offset", f"{value!r}: acknowledged {place}, read {places[value]}")
            for value, place in self._acknowledged.items()
            if value in places and place not in places[value]
        ]
        told: dict[Place, bytes] = {}
        for value, place in self._acknowledged.items():
            other = told.setdefault(place, value)
            if other != value:
                found.append(Anomaly("inconsistent offset", f"{place}: {other!r} and {value!r}"))
        return found

    def _reordered(self) -> list[Anomaly]:
        """Where a producer's values do not lie in the order of its sends."""
        found = []
        for key, records in self._found.items():
            order = {value: number for number, value in enumerate(self._sends[key])}
            last = -1
            for offset, value in records:
                number = order.get(value, last)
                if number < last:
                    found.append(Anomaly("reordered", f"{value!r} at {Place(*key, offset)}"))
                last = max(last, number)
        return found

    def _phantoms(self, places: dict[bytes, list[Place]]) -> list[Anomaly]:
        sent = {(key, value) for key, values in self._sends.items() for value in values}
        return [
            Anomaly("phantom", f"{value!r} at {place}")
            for value, found in places.items()
            for place in found
            if ((place.topic, place.partition), value) not in sent
        ]

    def _gaps(self) -> list[Anomaly]:
        found = []
        for key, records in self._found.items():
            for number, (offset, _) in enumerate(records):
                if offset != number:
                    found.append(Anomaly("gap", f"{Place(*key, offset)} in the place of {number}"))
                    break
        return found


def _duplicates(places: dict[bytes, list[Place]]) -> list[Anomaly]:
    return [
        Anomaly("duplicate", f"{value!r} at {found}")
        for value, found in places.items()
        if len(found) > 1
    ]
