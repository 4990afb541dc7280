"""InitProducerId of a producer that wants to go on after an error (KIP-360)."""

from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.handlers.administrator import Administrator
from tests.scenarios.raw_transactions import INIT_PRODUCER_ID, RawProducer, patiently


def recover(producer: RawProducer) -> ErrorCode:
    """Ask for the next epoch with the one it has."""
    request = InitProducerIdRequest(
        transactional_id=producer.transactional_id,
        transaction_timeout_ms=60_000,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
    )

    def ask() -> ErrorCode:
        answer = producer.connection.ask(request, InitProducerIdResponse, version=INIT_PRODUCER_ID)
        if answer.error_code == ErrorCode.NONE:
            producer.remember(answer.producer_id, answer.producer_epoch)
        return ErrorCode(answer.error_code)

    return patiently(ask)


def test_a_producer_recovers_and_its_transaction_is_aborted(admin: Administrator):
    """T18."""
    admin.must_create("written")
    producer = RawProducer(admin, "id")
    assert producer.init() is ErrorCode.NONE
    assert producer.send("written", "lost") is ErrorCode.NONE

    assert recover(producer) is ErrorCode.NONE

    assert producer.send("written", "kept") is ErrorCode.NONE
    assert producer.end(commit=True) is ErrorCode.NONE


def test_a_zombie_that_tries_to_recover_leaves_its_heir_alone(admin: Administrator):
    """T18, and more than Kafka does, which aborts the heir's transaction before it looks."""
    admin.must_create("written")
    zombie = RawProducer(admin, "id")
    assert zombie.init() is ErrorCode.NONE
    assert zombie.send("written", "lost") is ErrorCode.NONE
    heir = RawProducer(admin, "id")
    assert heir.init() is ErrorCode.NONE
    assert heir.send("written", "kept") is ErrorCode.NONE

    assert recover(zombie) is ErrorCode.PRODUCER_FENCED

    assert heir.end(commit=True) is ErrorCode.NONE
