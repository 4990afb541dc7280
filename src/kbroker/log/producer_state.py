"""The producers of a partition, as its log tells of them (ProducerStateManager).

Before an append, `check` says whether a batch is new, a duplicate, or must be refused; after it,
`replay` takes note. `replay` is the only method that changes the state by a batch, and recovery
calls it for the same batches in the same order, so what comes out of a snapshot and the tail of
the log is what was there before the crash (P7, P8).

Transactions: one is *ongoing* from its first batch to its marker, then *decided*, and counts as
unstable until its marker is below the high watermark (T9). ``first_unstable_offset`` is kept at
hand, because every fetch with read_committed asks for it.
"""

from collections.abc import Iterable
from typing import NamedTuple

from kbroker.log.errors import (
    CoordinatorFenced,
    InvalidProducerEpoch,
    InvalidTransactionState,
    OutOfOrderSequence,
)
from kbroker.log.producer_entry import (
    MAX_SEQUENCE,
    NO_OFFSET,
    AppendedBatch,
    ProducerEntry,
)
from kbroker.log.transaction_index import AbortedEntry
from kbroker.log.verification import Verification
from kbroker.records import BatchHeader, Marker
from kbroker.records.header import CONTROL_BIT, TRANSACTIONAL_BIT

DEFAULT_EXPIRATION_MS = 86_400_000  # producer.id.expiration.ms
# An entry takes about half a kilobyte; Kafka has no bound but the expiration.
DEFAULT_MAX_PRODUCERS = 100_000
# From this version of transactions on, markers carry an epoch above that of the data (KIP-890).
_MARKERS_TAKE_EPOCHS = 2


class ActiveProducer(NamedTuple):
    """A producer as DescribeProducers shows it; -1 for what it does not have."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    current_transaction_start_offset: int


class ProducerState:
    """Every producer that wrote to the partition and has not expired."""

    __slots__ = (
        "_decided",
        "_ongoing",
        "_verifications",
        "entries",
        "expiration_ms",
        "first_unstable_offset",
        "max_producers",
        "verifies",
    )

    def __init__(
        self,
        *,
        expiration_ms: int = DEFAULT_EXPIRATION_MS,
        max_producers: int = DEFAULT_MAX_PRODUCERS,
    ) -> None:
        self.expiration_ms = expiration_ms
        self.max_producers = max_producers
        self.entries: dict[int, ProducerEntry] = {}
        # First offset -> producer id. Offsets only grow, so the first item is the lowest.
        self._ongoing: dict[int, int] = {}
        # First offset -> offset of the marker, which may still be above the high watermark.
        self._decided: dict[int, int] = {}
        self.first_unstable_offset: int | None = None
        # Whether a transaction begins here only with a verification (T2), and those under way.
        self.verifies = False
        self._verifications: dict[int, Verification] = {}

    # Before an append.

    def begin_verification(
        self, header: BatchHeader, *, takes_epochs: bool, now_ms: int
    ) -> Verification | None:
        """What a batch must bring along, after the coordinator was asked; None if it need not be.

        It need not where the batch goes on with a transaction that has begun here. Raises
        InvalidProducerEpoch for a batch from the past, whose error nobody else would name so.
        """
        entry = self.entries.get(header.producer_id)
        if entry is not None:
            if header.producer_epoch < entry.producer_epoch:
                raise _old_epoch(header, entry)
            if (
                entry.transaction_first_offset >= 0
                and header.producer_epoch == entry.producer_epoch
            ):
                return None
        verification = self._verifications.get(header.producer_id)
        if verification is None:
            verification = Verification(header, takes_epochs=takes_epochs, now_ms=now_ms)
            self._verifications[header.producer_id] = verification
        else:
            verification.ask_again(header, takes_epochs=takes_epochs)
        return verification

    def is_verified(
        self, producer_id: int, producer_epoch: int, verification: Verification
    ) -> bool:
        """Whether a batch of ours may go on with a transaction, or begin one with what it asked."""
        entry = self.entries.get(producer_id)
        if (
            entry is not None
            and entry.transaction_first_offset >= 0
            and entry.producer_epoch == producer_epoch
        ):
            return True
        return self._verifications.get(producer_id) is verification

    def check(
        self,
        header: BatchHeader,
        *,
        from_client: bool = True,
        verification: Verification | None = None,
    ) -> AppendedBatch | None:
        """None if the data batch may be appended, or the batch in the log that it repeats.

        Raises InvalidProducerEpoch, OutOfOrderSequence or InvalidTransactionState. Coordinators'
        batches have no sequence, so only their epoch is looked at.
        """
        entry = self.entries.get(header.producer_id)
        if header.attributes & TRANSACTIONAL_BIT and from_client:
            self._check_verified(header, entry, verification)
        if entry is None:
            return None  # any sequence will do (P4): its records may have been deleted
        first_sequence = header.base_sequence
        producer_epoch = header.producer_epoch
        if producer_epoch == entry.producer_epoch:
            if from_client and first_sequence != entry.next_sequence:
                duplicate = entry.find_duplicate(
                    producer_epoch, first_sequence, header.last_sequence
                )
                if duplicate is None:
                    raise OutOfOrderSequence(
                        f"sequence {first_sequence} of producer {header.producer_id} does not"
                        f" follow {entry.last_sequence}"
                    )
                return duplicate
        elif producer_epoch < entry.producer_epoch:
            raise _old_epoch(header, entry)
        elif from_client and first_sequence != 0:
            raise OutOfOrderSequence(
                f"sequence {first_sequence} of producer {header.producer_id} begins the new epoch"
                f" {producer_epoch}"
            )
        if entry.transaction_first_offset >= 0 and not header.attributes & TRANSACTIONAL_BIT:
            raise InvalidTransactionState(
                f"producer {header.producer_id} has a transaction open since offset"
                f" {entry.transaction_first_offset}"
            )
        return None

    def _check_verified(
        self, header: BatchHeader, entry: ProducerEntry | None, verification: Verification | None
    ) -> None:
        if entry is not None:
            if header.producer_epoch < entry.producer_epoch:
                raise _old_epoch(header, entry)
            if (
                entry.transaction_first_offset >= 0
                and header.producer_epoch == entry.producer_epoch
            ):
                return  # it goes on
        asked = self._verifications.get(header.producer_id)
        if self.verifies and (asked is None or asked is not verification):
            raise InvalidTransactionState(
                f"a batch of producer {header.producer_id} is not part of an ongoing transaction"
            )
        if asked is not None:
            asked.check_sequence(header, is_known=entry is not None)

    def check_marker(
        self, header: BatchHeader, marker: Marker, *, transaction_version: int = 0
    ) -> None:
        """Raise InvalidProducerEpoch or CoordinatorFenced if the marker comes from the past.

        In version 2 its epoch is above that of the data it ends. With the epoch of data that is
        still open it is a late one of the transaction before; without any it is a retry.
        """
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return
        if header.producer_epoch < entry.producer_epoch or (
            transaction_version >= _MARKERS_TAKE_EPOCHS
            and header.producer_epoch == entry.producer_epoch
            and entry.transaction_first_offset >= 0
        ):
            raise _old_epoch(header, entry)
        if marker.coordinator_epoch < entry.coordinator_epoch:
            raise CoordinatorFenced(
                f"coordinator epoch {marker.coordinator_epoch} is older than"
                f" {entry.coordinator_epoch}"
            )

    def aborted_by(self, header: BatchHeader, offset: int) -> AbortedEntry | None:
        """What an abort marker at ``offset`` puts into the transaction index, if anything.

        A marker without data before it aborts nothing.
        """
        entry = self.entries.get(header.producer_id)
        if entry is None or entry.transaction_first_offset < 0:
            return None
        last_stable_offset = offset + 1
        for first_offset, producer_id in self._ongoing.items():
            if producer_id != header.producer_id:
                last_stable_offset = first_offset
                break
        return AbortedEntry(
            header.producer_id, entry.transaction_first_offset, offset, last_stable_offset
        )

    # After an append.

    def replay(
        self, header: BatchHeader, *, first_offset: int, marker: Marker | None = None
    ) -> None:
        """Take note of a batch that is in the log at ``first_offset``."""
        if header.attributes & CONTROL_BIT:
            if marker is not None:
                self._replay_marker(header, first_offset, marker)
            return
        producer_id = header.producer_id
        producer_epoch = header.producer_epoch
        entry = self.entries.get(producer_id)
        if entry is None:
            entry = self._new_entry(producer_id, producer_epoch)
        base_sequence = header.base_sequence
        delta = header.last_offset_delta
        entry.add(
            producer_epoch,
            AppendedBatch(
                base_sequence,
                (base_sequence + delta) & MAX_SEQUENCE if base_sequence >= 0 else base_sequence,
                first_offset,
                first_offset + delta,
                header.max_timestamp_ms,
            ),
        )
        if header.attributes & TRANSACTIONAL_BIT and entry.transaction_first_offset < 0:
            self._verifications.pop(producer_id, None)
            entry.transaction_first_offset = first_offset
            self._ongoing[first_offset] = producer_id
            self._find_first_unstable()

    def _replay_marker(self, header: BatchHeader, offset: int, marker: Marker) -> None:
        verification = self._verifications.get(header.producer_id)
        if verification is not None and verification.is_ended_by(header.producer_epoch):
            del self._verifications[header.producer_id]
        entry = self.entries.get(header.producer_id)
        if entry is None:
            entry = self._new_entry(header.producer_id, header.producer_epoch)
        first_offset = entry.transaction_first_offset
        if first_offset >= 0 and self._ongoing.pop(first_offset, None) is not None:
            self._decided[first_offset] = offset
            self._find_first_unstable()
        entry.end_transaction(
            header.producer_epoch, marker.coordinator_epoch, header.max_timestamp_ms
        )

    def _new_entry(self, producer_id: int, producer_epoch: int) -> ProducerEntry:
        if len(self.entries) >= self.max_producers:
            self._forget_the_oldest()
        entry = self.entries[producer_id] = ProducerEntry(producer_id, producer_epoch)
        return entry

    def _forget_the_oldest(self) -> None:
        """Make room: whoever came first and has no transaction open is unknown from now on."""
        for producer_id, entry in self.entries.items():
            if entry.transaction_first_offset < 0:
                del self.entries[producer_id]
                return

    # Transactions.

    def on_high_watermark(self, high_watermark: int) -> None:
        """Drop the decided transactions whose marker is committed (T9)."""
        if self._decided:
            self._decided = {
                first: last for first, last in self._decided.items() if last >= high_watermark
            }
            self._find_first_unstable()

    def has_ongoing_transaction(self, producer_id: int) -> bool:
        """Whether the producer has written here and its marker is still to come."""
        entry = self.entries.get(producer_id)
        return entry is not None and entry.transaction_first_offset >= 0

    def _find_first_unstable(self) -> None:
        first = next(iter(self._ongoing), None)
        if self._decided:
            decided = min(self._decided)
            first = decided if first is None else min(first, decided)
        self.first_unstable_offset = first

    # Coming and going.

    def load(self, entries: Iterable[ProducerEntry], *, now_ms: int) -> None:
        """Take over the entries of a snapshot, without those that have expired."""
        self.clear()
        for entry in entries:
            if not self._is_expired(entry, now_ms):
                self.entries[entry.producer_id] = entry
        open_transactions = sorted(
            (entry.transaction_first_offset, entry.producer_id)
            for entry in self.entries.values()
            if entry.transaction_first_offset != NO_OFFSET
        )
        self._ongoing = dict(open_transactions)
        self._find_first_unstable()

    def clear(self) -> None:
        """Know no producer."""
        self.entries.clear()
        self._ongoing.clear()
        self._decided = {}
        self._verifications.clear()
        self.first_unstable_offset = None

    def remove_expired(self, now_ms: int) -> None:
        """Forget the producers that have not written for the expiration time."""
        expired = [
            producer_id
            for producer_id, entry in self.entries.items()
            if self._is_expired(entry, now_ms)
        ]
        for producer_id in expired:
            del self.entries[producer_id]
        # Questions whose batch never came back.
        self._verifications = {
            producer_id: verification
            for producer_id, verification in self._verifications.items()
            if now_ms - verification.asked_ms < self.expiration_ms
        }

    def _is_expired(self, entry: ProducerEntry, now_ms: int) -> bool:
        return (
            entry.transaction_first_offset < 0
            and now_ms - entry.last_timestamp_ms >= self.expiration_ms
        )

    def active_producers(self) -> list[ActiveProducer]:
        """Every producer, for DescribeProducers."""
        return [
            ActiveProducer(
                entry.producer_id,
                entry.producer_epoch,
                entry.last_sequence,
                entry.last_timestamp_ms,
                entry.coordinator_epoch,
                entry.transaction_first_offset,
            )
            for entry in self.entries.values()
        ]


def _old_epoch(header: BatchHeader, entry: ProducerEntry) -> InvalidProducerEpoch:
    return InvalidProducerEpoch(
        f"epoch {header.producer_epoch} of producer {header.producer_id} is not above"
        f" {entry.producer_epoch}"
    )
