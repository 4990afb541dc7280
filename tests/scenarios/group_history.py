"""What members of a group were given and what they committed, and what is wrong with it.

A test writes down every assignment (`assigned`) and every confirmed commit (`committed`), from as
many threads as it likes; `anomalies` then names what a coordinator must never do:

    two owners     a partition given to two members in one generation, or, in a consumer group,
                   to one before the other has given it up or its session is over
    regressed      a commit confirmed, and a smaller offset stored afterwards
    lost           a commit confirmed, and nothing stored
    phantom        an offset stored that no member has ever asked to commit

A commit without an answer may have been stored or not, so `attempted` comes before the request and
`committed` behind the answer. Members commit ever larger offsets for a partition.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Holder(NamedTuple):
    """Who owns a partition, and until when the coordinator must believe so without a word."""

    member_id: str
    session_ends_at: float


@dataclass
class GroupHistory:
    """All that happened to one group; safe to use from many threads."""

    owners: dict[tuple[int, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    generations: set[int] = field(default_factory=set)
    confirmed: dict[int, int] = field(default_factory=dict)
    commits: int = 0
    # Of consumer groups, whose members own partitions over many epochs.
    holders: dict[int, Holder] = field(default_factory=dict)
    doubles: list[str] = field(default_factory=list)
    _attempted: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    _next: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def assigned(self, member_id: str, generation: int, partitions: Iterable[int]) -> None:
        with self._lock:
            self.generations.add(generation)
            for partition in partitions:
                self.owners[generation, partition].add(member_id)

    def held(
        self, member_id: str, partitions: Iterable[int], *, now: float, session_ends_at: float
    ) -> None:
        """The coordinator has just told a member that these are its own, all of them."""
        with self._lock:
            for partition in partitions:
                holder = self.holders.get(partition)
                if holder and holder.member_id != member_id and now < holder.session_ends_at:
                    self.doubles.append(f"two owners of {partition}: {holder} and {member_id}")
                self.holders[partition] = Holder(member_id, session_ends_at)

    def given_up(self, member_id: str, partitions: Iterable[int]) -> None:
        """A member is about to tell that it has let these go."""
        with self._lock:
            for partition in partitions:
                holder = self.holders.get(partition)
                if holder and holder.member_id == member_id:
                    del self.holders[partition]

    def attempted(self, partition: int) -> int:
        """The offset to commit next: larger than all that were tried before."""
        with self._lock:
            self._next[partition] += 1
            self._attempted[partition].add(self._next[partition])
            return self._next[partition]

    def committed(self, partition: int, offset: int) -> None:
        with self._lock:
            self.commits += 1
            self.confirmed[partition] = max(offset, self.confirmed.get(partition, 0))

    def anomalies(self, stored: Mapping[int, int]) -> list[str]:
        """Everything that is wrong, given the offsets that the coordinator has now."""
        found = [
            f"two owners of {partition} in generation {generation}: {sorted(members)}"
            for (generation, partition), members in self.owners.items()
            if len(members) > 1
        ] + self.doubles
        for partition, offset in self.confirmed.items():
            if partition not in stored:
                found.append(f"lost {partition}: {offset}")
            elif stored[partition] < offset:
                found.append(f"regressed {partition}: {stored[partition]} after {offset}")
        return found + [
            f"phantom {partition}: {offset}"
            for partition, offset in stored.items()
            if offset not in self._attempted[partition]
        ]
