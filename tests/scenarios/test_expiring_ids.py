"""Thousands of transactional ids that are used once: what is left of them does not grow for ever.

Flink makes a new id for each checkpoint. After transactional.id.expiration.ms nobody asks for it
any more: the coordinator forgets it, the partitions forget its producer, and memory goes round.
"""

from pathlib import Path

import pytest

from kbroker.client.connection import Connection
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from tests.handlers.administrator import Administrator
from tests.scenarios.broker_process import BrokerProcess
from tests.scenarios.raw_transactions import RawProducer, patiently

ROUNDS = 5
IDS = 1_000
CONFIGS = {
    "transactional.id.expiration.ms": "1000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "200",
    "producer.id.expiration.ms": "1000",
    "producer.id.expiration.check.interval.ms": "200",
}
# What an id takes while it is known is a few kilobytes; a tenth of that left of each would show.
MOST_LEFT_BYTES_PER_ID = 500


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096


def known_ids(connection: Connection) -> int:
    answer = connection.ask(ListTransactionsRequest(), ListTransactionsResponse)
    assert answer.error_code == ErrorCode.NONE
    return len(answer.transaction_states)


@pytest.mark.slow
def test_ids_that_are_used_once_are_forgotten(tmp_path: Path):
    options = [word for each in CONFIGS.items() for word in ("--set", "=".join(each))]
    after: list[int] = []
    with (
        BrokerProcess(tmp_path, options=options) as broker,
        Administrator(broker.host, broker.port) as connection,
    ):
        connection.must_create("written")
        for round_number in range(ROUNDS):
            for number in range(IDS):
                producer = RawProducer(connection, f"checkpoint-{round_number}-{number}")
                assert producer.init() is ErrorCode.NONE
                assert producer.producer_epoch == 0
                assert producer.send("written", "x") is ErrorCode.NONE
                assert producer.end(commit=True) is ErrorCode.NONE
            wait_until_forgotten(connection)
            after.append(resident_bytes(broker.pid))
        assert "Traceback" not in broker.stderr
        broker.stop()
    # The first rounds fill what is filled once: caches, index files, the allocator's arenas.
    grown = after[-1] - after[1]
    assert grown < MOST_LEFT_BYTES_PER_ID * IDS * (ROUNDS - 2), after


def wait_until_forgotten(connection: Connection) -> None:
    def look() -> ErrorCode:
        is_empty = known_ids(connection) == 0
        return ErrorCode.NONE if is_empty else ErrorCode.CONCURRENT_TRANSACTIONS

    assert patiently(look) is ErrorCode.NONE
