"""Fast producers: the next transaction begins while the markers of the last are being written."""

from kbroker.txn.transaction import LAST_EPOCH
from kbroker.wire import ErrorCode
from tests.txn.bench import Bench, next_writer, place


def test_who_comes_too_early_waits_for_the_end_and_goes_on_in_order():
    bench = Bench()
    first = bench.writer()
    bench.add(first, place(0))
    second = next_writer(first, bench.end(first))
    tickets = [bench.park(second, place(number)) for number in (1, 2, 1)]
    late = bench.park(first, place(5))
    assert [bench.told(ticket) for ticket in tickets] == [None] * 3
    bench.write_markers()

    assert [bench.told(ticket) for ticket in tickets] == [ErrorCode.NONE] * 3
    assert bench.told(late) is ErrorCode.PRODUCER_FENCED
    assert bench.state() == "Ongoing"
    assert bench.known().partitions == {place(1), place(2)}
    bench.restart()
    assert bench.known().partitions == {place(1), place(2)}


def test_who_has_waited_long_enough_tries_again():
    bench = Bench()
    first = bench.writer()
    bench.add(first, place(0))
    second = next_writer(first, bench.end(first))
    hasty = bench.park(second, place(1), patience_s=0.1)
    patient = bench.park(second, place(2), patience_s=5)
    bench.wait(0.2)
    assert bench.told(hasty) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert bench.told(patient) is None
    bench.wait(5)
    assert bench.told(patient) is ErrorCode.CONCURRENT_TRANSACTIONS
    bench.write_markers()
    assert bench.state() == "CompleteCommit"
    assert bench.shard._parked == {}


def test_one_leaves_and_another_stays():
    bench = Bench()
    first = bench.writer()
    bench.add(first, place(0))
    second = next_writer(first, bench.end(first))
    hasty, patient = (bench.park(second, place(1), patience_s=each) for each in (0.1, 5))
    bench.wait(0.2)
    bench.write_markers()
    assert bench.told(hasty) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert bench.told(patient) is ErrorCode.NONE
    bench.wait(20)
    assert bench.told(patient) is ErrorCode.NONE


def test_who_need_not_wait_does_not():
    bench = Bench()
    assert bench.told(bench.park(bench.writer(), place(1))) is ErrorCode.NONE


def test_T8_the_new_id_after_a_rotation_waits_too():
    bench = Bench()
    old = bench.at_epoch(LAST_EPOCH - 1)
    bench.add(old)
    new = next_writer(old, bench.end(old))
    ticket = bench.park(new, place(1))
    bench.write_markers()
    assert bench.told(ticket) is ErrorCode.NONE
    assert bench.known().producer_id == new.producer_id
