"""InitProducerId: ids and epochs, fencing and recovery."""

import pytest

from kbroker.txn import Writer
from kbroker.txn.transaction import LAST_EPOCH
from kbroker.wire import ErrorCode
from tests.txn.bench import TIMEOUT_MS, Bench, place


def test_a_new_transactional_id_begins_with_epoch_0():
    bench = Bench()
    answer = bench.init()

    assert (answer.error_code, answer.producer_epoch) == (ErrorCode.NONE, 0)
    assert answer.producer_id == bench.next_producer_id
    assert bench.state() == "Empty"


def test_each_initialisation_takes_an_epoch_and_fences_the_producer_before():
    bench = Bench()
    old = bench.writer()
    new = bench.writer()

    assert new == old._replace(producer_epoch=1)
    assert bench.add(old) is ErrorCode.PRODUCER_FENCED
    assert bench.add(new) is ErrorCode.NONE


def test_two_ids_have_two_producers():
    bench = Bench()
    assert bench.writer("x").producer_id != bench.writer("y").producer_id


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_a_timeout_must_be_possible(timeout_ms):
    bench = Bench()
    answer = bench.init(timeout_ms=timeout_ms)

    assert answer.error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert (answer.producer_id, answer.producer_epoch) == (-1, -1)
    assert bench.state() == "unknown"


def test_another_timeout_counts_from_then_on():
    bench = Bench()
    bench.writer()
    bench.init(timeout_ms=1234)
    assert bench.known().timeout_ms == 1234


def test_an_open_transaction_is_aborted_first():
    bench = Bench()
    zombie = bench.writer()
    bench.add(zombie, place(0), place(1))

    assert bench.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert bench.state() == "PrepareAbort"
    assert bench.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    # The markers carry an epoch that the zombie does not have.
    assert bench.write_markers() == [(place(0), 1, False), (place(1), 1, False)]
    assert bench.state() == "CompleteAbort"
    answer = bench.init()
    assert (answer.producer_id, answer.producer_epoch) == (zombie.producer_id, 2)
    assert bench.end(zombie).error_code == ErrorCode.PRODUCER_FENCED


def test_while_a_transaction_ends_one_must_wait():
    bench = Bench()
    writer = bench.writer()
    bench.add(writer)
    bench.end(writer)
    assert bench.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS


# --- a producer that recovers (KIP-360) ----------------------------------------------


def recover(bench: Bench, writer: Writer) -> tuple[ErrorCode, int, int]:
    answer = bench.init(producer_id=writer.producer_id, producer_epoch=writer.producer_epoch)
    return ErrorCode(answer.error_code), answer.producer_id, answer.producer_epoch


def test_T18_the_current_epoch_is_bumped_the_last_one_is_a_retry_others_are_fenced():
    bench = Bench()
    writer = bench.writer()

    assert recover(bench, writer) == (ErrorCode.NONE, writer.producer_id, 1)
    assert recover(bench, writer) == (ErrorCode.NONE, writer.producer_id, 1)
    assert recover(bench, writer._replace(producer_epoch=1))[2] == 2
    assert recover(bench, writer)[0] is ErrorCode.PRODUCER_FENCED
    assert recover(bench, writer._replace(producer_epoch=3))[0] is ErrorCode.PRODUCER_FENCED


def test_a_new_producer_ends_the_recovery_of_the_old_one():
    bench = Bench()
    writer = bench.writer()
    recover(bench, writer)
    bench.writer()  # epoch 2, and nobody had 1 before it

    assert recover(bench, writer._replace(producer_epoch=1))[0] is ErrorCode.PRODUCER_FENCED


def test_another_producer_id_is_fenced():
    bench = Bench()
    writer = bench.writer()
    stranger = writer._replace(producer_id=writer.producer_id + 1)
    assert recover(bench, stranger)[0] is ErrorCode.PRODUCER_FENCED


def test_a_forgotten_id_begins_anew_whoever_comes():
    bench = Bench()
    error, producer_id, epoch = recover(bench, Writer("x", 77, 5))
    assert (error, epoch) == (ErrorCode.NONE, 0)
    assert producer_id != 77


def test_T8_a_producer_without_epochs_gets_a_new_id():
    bench = Bench()
    old = bench.at_epoch(LAST_EPOCH - 1)
    answer = bench.init()

    assert answer.error_code == ErrorCode.NONE
    assert (answer.producer_id, answer.producer_epoch) == (bench.next_producer_id, 0)
    assert answer.producer_id != old.producer_id


def test_T8_its_retry_finds_the_new_id_also_a_second_time():
    bench = Bench()
    old = bench.at_epoch(LAST_EPOCH - 1)
    first = recover(bench, old)

    assert first == (ErrorCode.NONE, bench.next_producer_id, 0)
    assert recover(bench, old) == first
    assert recover(bench, old) == first
    # With any other epoch of the old id it is a stranger.
    assert recover(bench, old._replace(producer_epoch=3))[0] is ErrorCode.PRODUCER_FENCED


def test_T8_an_old_epoch_of_a_used_up_id_is_fenced_and_takes_nothing():
    bench = Bench()
    old = bench.at_epoch(LAST_EPOCH - 1)
    before = bench.next_producer_id

    assert recover(bench, old._replace(producer_epoch=7))[0] is ErrorCode.PRODUCER_FENCED
    assert bench.next_producer_id == before


@pytest.mark.parametrize("version", [0, 1, 2])
def test_T8_a_producer_with_the_last_but_one_epoch_can_be_fenced(version):
    bench = Bench(transaction_version=version)
    zombie = bench.at_epoch(LAST_EPOCH - 1)
    bench.add(zombie, version=version)

    assert bench.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert bench.write_markers() == [(place(0), LAST_EPOCH, False)]
    answer = bench.init()
    assert (answer.error_code, answer.producer_epoch) == (ErrorCode.NONE, 0)
    assert answer.producer_id != zombie.producer_id


def test_a_log_that_knows_the_last_epoch_does_no_harm():
    bench = Bench()
    writer = bench.at_epoch(LAST_EPOCH)
    bench.add(writer)
    bench.init()
    assert bench.write_markers() == [(place(0), LAST_EPOCH, False)]


@pytest.mark.parametrize(("version", "epoch_after"), [(1, 1), (2, 1)])
def test_T7_a_fence_that_was_not_written_burns_no_epoch(version, epoch_after):
    bench = Bench(transaction_version=version)
    writer = bench.writer()
    bench.add(writer, version=version)
    from kbroker.wire.messages.init_producer_id import InitProducerIdRequest

    request = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=TIMEOUT_MS)
    bench.shard.init_producer_id(request, bench.ticket(), bench.now_ms)  # the append failed
    bench.restart()

    assert bench.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert bench.write_markers() == [(place(0), epoch_after, False)]


def test_a_zombie_that_recovers_does_not_abort_the_transaction_of_its_heir():
    bench = Bench()
    zombie = bench.writer()
    heir = bench.writer()
    bench.add(heir)

    assert recover(bench, zombie)[0] is ErrorCode.PRODUCER_FENCED
    assert bench.state() == "Ongoing"
    assert recover(bench, heir)[0] is ErrorCode.CONCURRENT_TRANSACTIONS
    assert bench.state() == "PrepareAbort"
