from kbroker.client.aborted import AbortedBatches
from kbroker.records import Record, build_batch, build_marker_batch, scan_batches
from kbroker.wire.messages.fetch import AbortedTransaction


def data(offset: int, producer_id: int) -> bytes:
    record = Record(offset, 0, None, b"v")
    return bytes(
        build_batch(
            [record],
            base_offset=offset,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=True,
        )
    )


def marker(offset: int, producer_id: int, *, committed: bool) -> bytes:
    return bytes(
        build_marker_batch(
            producer_id=producer_id,
            producer_epoch=0,
            committed=committed,
            coordinator_epoch=0,
            timestamp_ms=0,
            base_offset=offset,
        )
    )


def aborted_offsets(log: bytes, *transactions: tuple[int, int]) -> list[int]:
    aborted = AbortedBatches(
        AbortedTransaction(producer_id=producer_id, first_offset=offset)
        for producer_id, offset in transactions
    )
    return [
        header.base_offset
        for place, header in scan_batches(log)
        if aborted.includes(log, place, header)
    ]


def test_batches_are_aborted_from_the_first_offset_to_the_marker():
    log = (
        data(0, 7) + marker(1, 7, committed=True)
        + data(2, 7) + data(3, 7) + marker(4, 7, committed=False)
        + data(5, 7) + marker(6, 7, committed=True)
    )  # fmt: skip

    assert aborted_offsets(log, (7, 2)) == [2, 3]


def test_producers_do_not_abort_one_another():
    log = (
        data(0, 7) + data(1, 8) + data(2, 7)
        + marker(3, 8, committed=True) + marker(4, 7, committed=False) + data(5, 8)
    )  # fmt: skip

    assert aborted_offsets(log, (7, 0)) == [0, 2]


def test_a_producer_may_abort_again_and_again():
    log = b"".join(
        data(offset, 7) + marker(offset + 1, 7, committed=offset == 2) for offset in (0, 2, 4)
    )

    assert aborted_offsets(log, (7, 4), (7, 0)) == [0, 4]


def test_a_fetch_may_begin_inside_an_aborted_transaction():
    log = data(5, 7) + marker(6, 7, committed=False) + data(7, 7)

    assert aborted_offsets(log, (7, 2)) == [5]


def test_batches_without_a_transaction_are_never_aborted():
    log = bytes(build_batch([Record(0, 0, None, b"v")], producer_id=7))

    assert aborted_offsets(log, (7, 0)) == []
