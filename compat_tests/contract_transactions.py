"""What must hold for transactions, whichever client is used.

A client's adapter says in its own API what `TransactionalClient` and `Transactor` say here, and
adds nothing. The questions are the same for all: who sees what, when, and who is shut out.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from compat_tests.client import Admin

# The last record of a topic, written without a transaction: a reader is through when it sees it.
END = "end"
# As short as a test likes to wait, as long as a busy machine needs for a begin and a send.
SHORT_TIMEOUT_MS = 3_000
LONG_TIMEOUT_MS = 60_000
_WAIT_S = 30.0


class Refused(Exception):
    """A transaction cannot go on: its producer is fenced, or it was aborted from outside."""


class Transactor(Protocol):
    """One transactional producer, which has said InitProducerId. Raises `Refused`."""

    def begin(self) -> None: ...

    def send(self, topic: str, values: Sequence[str], partition: int = 0) -> None:
        """Send and wait until the broker has all of it."""
        ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def copy(self, source: str, target: str, group: str, count: int, *, commit: bool) -> list[str]:
        """Read ``count`` records as a member of a group, write them in capitals, end.

        A whole consume-transform-produce in one transaction: the positions go with it, together
        with what the group calls the member. Gives what was read.
        """
        ...


class TransactionalClient(Protocol):
    """One client library against one cluster."""

    def transactor(self, transactional_id: str, *, timeout_ms: int) -> Transactor: ...

    def read(
        self, topic: str, *, committed: bool, timeout_s: float, partition: int = 0
    ) -> list[str]:
        """All of a partition from the beginning, until `END` or until the time is over."""
        ...


def eventually(look: Callable[[], object], wanted: object) -> None:
    """Until what is seen is what is wanted; AssertionError with what is seen otherwise."""
    deadline = time.monotonic() + _WAIT_S
    while (seen := look()) != wanted:
        assert time.monotonic() < deadline, f"{seen}, not {wanted}"
        time.sleep(0.1)


def refused(action: Callable[[], object]) -> bool:
    """Whether the client refuses to do this."""
    try:
        action()
    except Refused:
        return True
    return False


class TransactionsContract:
    """For every client with transactions. ``plain`` writes one record without a transaction."""

    def test_what_is_committed_is_seen_at_once_and_not_before(
        self, transactional: TransactionalClient, plain: Callable[[str, str], None], topic: str
    ):
        producer = transactional.transactor(f"id-{topic}", timeout_ms=LONG_TIMEOUT_MS)
        producer.begin()
        producer.send(topic, ["a", "b"])
        plain(topic, END)

        # Behind an open transaction nobody who wants certainty sees anything, not even END.
        assert transactional.read(topic, committed=True, timeout_s=1.0) == []
        assert transactional.read(topic, committed=False, timeout_s=_WAIT_S) == ["a", "b", END]
        producer.commit()

        assert transactional.read(topic, committed=True, timeout_s=_WAIT_S) == ["a", "b", END]

    def test_what_is_aborted_is_seen_only_by_who_does_not_mind(
        self, transactional: TransactionalClient, plain: Callable[[str, str], None], topic: str
    ):
        """T10, T17."""
        producer = transactional.transactor(f"id-{topic}", timeout_ms=LONG_TIMEOUT_MS)
        for value in ("a", "b", "c", "d"):
            producer.begin()
            producer.send(topic, [value, value.upper()])
            if value in "ac":
                producer.abort()
            else:
                producer.commit()
        plain(topic, END)

        seen = transactional.read(topic, committed=True, timeout_s=_WAIT_S)
        assert seen == ["b", "B", "d", "D", END]
        everything = transactional.read(topic, committed=False, timeout_s=_WAIT_S)
        assert everything == [*"aAbBcCdD", END]

    def test_a_transaction_covers_all_its_partitions(
        self,
        transactional: TransactionalClient,
        admin: Admin,
        plain: Callable[..., None],
        topic: str,
    ):
        admin.create_topic(topic, partitions=3)
        producer = transactional.transactor(f"id-{topic}", timeout_ms=LONG_TIMEOUT_MS)
        for commit in (False, True):
            producer.begin()
            for partition in range(3):
                producer.send(topic, [f"{commit} {partition}"], partition)
            if commit:
                producer.commit()
            else:
                producer.abort()
        for partition in range(3):
            plain(topic, END, partition)

        for partition in range(3):
            seen = transactional.read(topic, committed=True, timeout_s=_WAIT_S, partition=partition)
            assert seen == [f"True {partition}", END]

    def test_a_zombie_is_shut_out_and_its_transaction_aborted(
        self, transactional: TransactionalClient, plain: Callable[[str, str], None], topic: str
    ):
        """Whoever has the transactional id last has it alone."""
        zombie = transactional.transactor(f"id-{topic}", timeout_ms=LONG_TIMEOUT_MS)
        zombie.begin()
        zombie.send(topic, ["lost"])

        heir = transactional.transactor(f"id-{topic}", timeout_ms=LONG_TIMEOUT_MS)
        heir.begin()
        heir.send(topic, ["kept"])
        assert refused(lambda: [zombie.send(topic, ["late"]), zombie.commit()])
        heir.commit()
        plain(topic, END)

        assert transactional.read(topic, committed=True, timeout_s=_WAIT_S) == ["kept", END]

    def test_a_transaction_that_takes_too_long_is_aborted(
        self, transactional: TransactionalClient, plain: Callable[[str, str], None], topic: str
    ):
        sleeper = transactional.transactor(f"id-{topic}", timeout_ms=SHORT_TIMEOUT_MS)
        sleeper.begin()
        sleeper.send(topic, ["too late"])
        plain(topic, END)

        eventually(lambda: transactional.read(topic, committed=True, timeout_s=0.5), [END])
        assert refused(sleeper.commit)

        other = transactional.transactor(f"id-{topic}", timeout_ms=SHORT_TIMEOUT_MS)
        other.begin()
        other.send(f"{topic}-other", ["in time", END])
        other.commit()

        seen = transactional.read(f"{topic}-other", committed=True, timeout_s=_WAIT_S)
        assert seen == ["in time", END]
        everything = transactional.read(topic, committed=False, timeout_s=_WAIT_S)
        assert everything == ["too late", END]

    def test_what_is_read_and_what_is_written_count_together(
        self, transactional: TransactionalClient, plain: Callable[[str, str], None], topic: str
    ):
        """T13: an offset whose transaction was aborted is read again, one that was not is not."""
        source, group = f"{topic}-source", f"group-{topic}"
        plain(topic, "first")
        for number in range(9):
            plain(source, f"r{number}")
        worker = transactional.transactor(f"id-{topic}", timeout_ms=LONG_TIMEOUT_MS)

        assert worker.copy(source, topic, group, 3, commit=True) == ["r0", "r1", "r2"]
        assert worker.copy(source, topic, group, 3, commit=False) == ["r3", "r4", "r5"]
        assert worker.copy(source, topic, group, 3, commit=True) == ["r3", "r4", "r5"]
        heir = transactional.transactor(f"id-{topic}", timeout_ms=LONG_TIMEOUT_MS)
        assert heir.copy(source, topic, group, 3, commit=True) == ["r6", "r7", "r8"]
        plain(topic, END)

        seen = transactional.read(topic, committed=True, timeout_s=_WAIT_S)
        assert seen == ["first", *(f"R{number}" for number in range(9)), END]
