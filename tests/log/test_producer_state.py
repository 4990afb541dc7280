"""Idempotence and transactions as ProducerAppendInfo decides them (P1-P9, T5, T9, T16)."""

import pytest

from kbroker.log.errors import (
    CoordinatorFenced,
    InvalidProducerEpoch,
    InvalidTransactionState,
    OutOfOrderSequence,
)
from kbroker.log.producer_entry import MAX_SEQUENCE
from kbroker.log.producer_snapshot import decode_snapshot, encode_snapshot
from kbroker.log.producer_state import ProducerState
from kbroker.log.transaction_index import AbortedEntry
from kbroker.records import BatchHeader, Marker, read_header
from tests.log.samples import NOW_MS, idempotent, marker


def header(sequence: int, count: int = 1, **fields: object) -> BatchHeader:
    return read_header(idempotent(sequence, *[b"v"] * count, **fields))


def state_after(*batches: tuple[int, BatchHeader]) -> ProducerState:
    state = ProducerState()
    for first_offset, each in batches:
        state.replay(each, first_offset=first_offset)
    return state


def end(state: ProducerState, offset: int, *, committed: bool, epoch: int = 0, **fields: int):
    sent = read_header(marker(committed=committed, epoch=epoch, **fields))
    state.replay(sent, first_offset=offset, marker=Marker(committed, 0))


def test_a_repeated_batch_is_found_among_the_last_five() -> None:
    """P1."""
    state = state_after(*[(100 + n, header(n)) for n in range(6)])
    for sequence in range(1, 6):
        duplicate = state.check(header(sequence))
        assert duplicate is not None
        assert duplicate.first_offset == 100 + sequence
    with pytest.raises(OutOfOrderSequence):
        state.check(header(0))  # the sixth is forgotten


def test_only_exactly_the_same_sequences_are_a_duplicate() -> None:
    """P1."""
    state = state_after((0, header(0, 3)))
    with pytest.raises(OutOfOrderSequence):
        state.check(header(0, 2))
    with pytest.raises(OutOfOrderSequence):
        state.check(header(1, 2))


def test_the_next_sequence_follows_the_last_one() -> None:
    state = state_after((0, header(0, 3)))
    assert state.check(header(3)) is None
    with pytest.raises(OutOfOrderSequence):
        state.check(header(4))


@pytest.mark.parametrize(
    ("first", "count", "following"), [(MAX_SEQUENCE, 1, 0), (MAX_SEQUENCE - 1, 4, 2)]
)
def test_the_sequence_wraps_also_inside_a_batch(first: int, count: int, following: int) -> None:
    """P3."""
    state = state_after((0, header(first, count)))
    assert state.check(header(following)) is None
    duplicate = state.check(header(first, count))
    assert duplicate is not None
    assert duplicate.last_offset == count - 1


def test_an_unknown_producer_may_begin_anywhere() -> None:
    """P4."""
    assert ProducerState().check(header(4711)) is None


def test_a_new_epoch_begins_with_sequence_0() -> None:
    """P4."""
    state = state_after((0, header(5)))
    assert state.check(header(0, epoch=1)) is None
    with pytest.raises(OutOfOrderSequence):
        state.check(header(6, epoch=1))


def test_an_older_epoch_is_fenced() -> None:
    """P5: INVALID_PRODUCER_EPOCH, not PRODUCER_FENCED."""
    state = state_after((0, header(0, epoch=3)))
    with pytest.raises(InvalidProducerEpoch) as caught:
        state.check(header(1, epoch=2))
    assert caught.value.kafka_error == "INVALID_PRODUCER_EPOCH"


def test_coordinators_write_without_sequence_but_not_with_an_old_epoch() -> None:
    state = state_after((0, header(0, epoch=3)))
    assert state.check(header(-1, epoch=3), from_client=False) is None
    with pytest.raises(InvalidProducerEpoch):
        state.check(header(-1, epoch=2), from_client=False)


def test_checking_changes_nothing() -> None:
    """P7."""
    state = state_after((0, header(0)))
    state.check(header(1))
    state.check(header(0, epoch=1))
    assert state.active_producers() == state_after((0, header(0))).active_producers()


def test_a_write_outside_the_open_transaction_is_refused() -> None:
    """T16."""
    state = state_after((0, header(0, is_transactional=True)))
    with pytest.raises(InvalidTransactionState):
        state.check(header(1))
    assert state.check(header(1, is_transactional=True)) is None


def test_a_transaction_is_unstable_until_its_marker_is_committed() -> None:
    """T9."""
    state = state_after((10, header(0, is_transactional=True)))
    assert state.first_unstable_offset == 10
    end(state, 20, committed=True)
    assert not state.has_ongoing_transaction(7)
    assert state.first_unstable_offset == 10
    state.on_high_watermark(20)
    assert state.first_unstable_offset == 10
    state.on_high_watermark(21)
    assert state.first_unstable_offset is None


def test_the_first_of_several_transactions_is_the_unstable_one() -> None:
    state = state_after(
        (10, header(0, is_transactional=True)),
        (11, header(0, producer_id=8, is_transactional=True)),
    )
    sent = read_header(marker(committed=False))
    assert state.aborted_by(sent, 12) == AbortedEntry(7, 10, 12, 11)
    end(state, 12, committed=False)
    state.on_high_watermark(13)
    assert state.first_unstable_offset == 11


def test_a_marker_without_data_aborts_nothing() -> None:
    state = state_after((0, header(0)))
    assert state.aborted_by(read_header(marker(committed=False)), 1) is None


def test_after_a_marker_with_a_higher_epoch_the_sequence_begins_with_0() -> None:
    """KIP-890: the marker of a transaction carries the epoch of the next one."""
    state = state_after((0, header(0, is_transactional=True)))
    end(state, 1, committed=True, epoch=1)
    assert state.check(header(0, epoch=1, is_transactional=True)) is None
    with pytest.raises(OutOfOrderSequence):
        state.check(header(1, epoch=1, is_transactional=True))
    with pytest.raises(InvalidProducerEpoch):
        state.check(header(1, epoch=0, is_transactional=True))


def test_markers_of_the_past_are_refused() -> None:
    """T5."""
    state = state_after((0, header(0, epoch=2, is_transactional=True)))
    sent = read_header(marker(committed=True, epoch=1))
    with pytest.raises(InvalidProducerEpoch):
        state.check_marker(sent, Marker(True, 0))
    current = read_header(marker(committed=True, epoch=2))
    state.replay(current, first_offset=1, marker=Marker(True, 5))
    with pytest.raises(CoordinatorFenced):
        state.check_marker(current, Marker(True, 4))
    state.check_marker(current, Marker(True, 5))


def test_producers_expire_unless_a_transaction_is_open() -> None:
    """P9."""
    state = state_after((0, header(0)), (1, header(0, producer_id=8, is_transactional=True)))
    state.remove_expired(NOW_MS + state.expiration_ms - 1)
    assert set(state.entries) == {7, 8}
    state.remove_expired(NOW_MS + state.expiration_ms)
    assert set(state.entries) == {8}


def test_the_number_of_producers_is_bounded() -> None:
    state = ProducerState(max_producers=2)
    state.replay(header(0, producer_id=1, is_transactional=True), first_offset=0)
    state.replay(header(0, producer_id=2), first_offset=1)
    state.replay(header(0, producer_id=3), first_offset=2)
    assert set(state.entries) == {1, 3}


def test_a_snapshot_keeps_all_but_the_older_batches() -> None:
    """P8."""
    state = state_after(
        (0, header(MAX_SEQUENCE - 1, 4)),
        (4, header(0, producer_id=8, is_transactional=True)),
        (5, header(1, producer_id=8, is_transactional=True)),
    )
    end(state, 6, committed=True, producer_id=9)
    restored = ProducerState()
    restored.load(decode_snapshot(encode_snapshot(state.entries.values())), now_ms=NOW_MS)
    assert restored.active_producers() == state.active_producers()
    assert restored.first_unstable_offset == 4
    assert restored.entries[7].batches == state.entries[7].batches
    assert restored.entries[8].batches == state.entries[8].batches[-1:]


def test_a_spoiled_snapshot_is_recognised() -> None:
    data = encode_snapshot(state_after((0, header(0))).entries.values())
    for spoiled in (b"", data[:-1], data + b"\x00", b"\x00\x02" + data[2:], data[:-1] + b"\x09"):
        with pytest.raises(ValueError, match="snapshot"):
            decode_snapshot(spoiled)


@pytest.mark.parametrize("committed", [True, False])
def test_the_marker_of_the_last_transaction_leaves_the_question_of_the_next_one(
    committed: bool,
) -> None:
    """T2: a fast producer asks for transaction n+1 before the marker of n is there (KIP-890)."""
    state = state_after((0, header(0, is_transactional=True)))
    state.verifies = True
    first_of_next = header(0, epoch=1, is_transactional=True)
    asked = state.begin_verification(first_of_next, takes_epochs=True, now_ms=NOW_MS)

    end(state, 1, committed=committed, epoch=1)

    assert state.check(first_of_next, verification=asked) is None


@pytest.mark.parametrize(("takes_epochs", "marker_epoch"), [(True, 2), (False, 1)])
def test_the_marker_of_its_own_transaction_ends_a_question(
    takes_epochs: bool, marker_epoch: int
) -> None:
    """T2."""
    state = state_after((0, header(0, is_transactional=True)))
    state.verifies = True
    late = header(0, epoch=1, is_transactional=True)
    asked = state.begin_verification(late, takes_epochs=takes_epochs, now_ms=NOW_MS)

    end(state, 1, committed=False, epoch=marker_epoch)

    with pytest.raises((InvalidTransactionState, InvalidProducerEpoch)):
        state.check(late, verification=asked)
