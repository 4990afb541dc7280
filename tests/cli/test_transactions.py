"""kbroker transactions, with a real transactional producer."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from tests.cli.command import Kbroker


@pytest.fixture
def hanging(kbroker: Kbroker, bootstrap: str, topic: str, name: str) -> Iterator[str]:
    """The transactional id of a producer that has written and does not end its transaction."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"inside")
    producer.flush(30)
    yield name
    # Whatever the test did to it.
    producer.purge()


def cells(lines: list[str]) -> list[list[str]]:
    return [line.split("\t") for line in lines]


def test_transactions_are_listed(kbroker, hanging):
    (row,) = [row for row in cells(kbroker.done("transactions", "list")) if row[0] == hanging]
    assert row[3] == "Ongoing"
    for filters in (
        ("--state", "ongoing", "--pattern", f"{hanging[:-1]}."),
        ("--producer", row[2]),
    ):
        assert row in cells(kbroker.done("transactions", "list", *filters))
    for filters in (("--state", "Empty"), ("--longer-than-ms", "3600000"), ("--pattern", "a")):
        assert row not in cells(kbroker.done("transactions", "list", *filters))


def test_a_transaction_is_described(kbroker, hanging, topic):
    ended = kbroker("transactions", "describe", hanging, "nobody-has-this-id")

    (row,) = cells(ended.output.splitlines())
    assert (row[0], row[4], row[7]) == (hanging, "Ongoing", f"{topic}-0")
    assert row[6].endswith(" ms")
    assert ended.exit_code == 1
    assert "TRANSACTIONAL_ID_NOT_FOUND" in ended.complaint


@pytest.mark.parametrize("by", ["--start-offset", "--producer"])
def test_a_transaction_that_hangs_is_aborted(kbroker, hanging, topic, by):
    place = ("--topic", topic, "--partition", "0")
    (row,) = cells(kbroker.done("transactions", "producers", *place))
    assert row[5] == "0"
    which = "0" if by == "--start-offset" else row[0]
    kbroker.done("transactions", "abort", *place, by, which)

    (row,) = cells(kbroker.done("transactions", "producers", *place))
    assert row[5] == "-"
    again = kbroker("transactions", "abort", *place, by, which)
    assert again.exit_code == 1
    assert "no open transaction" in again.complaint


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--state", "Sleeping"),
        ("abort", "--topic", "t", "--partition", "0"),
        ("abort", "--topic", "t", "--start-offset", "0"),
        ("describe",),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(kbroker, arguments):
    ended = kbroker("transactions", *arguments)
    assert ended.exit_code == 2
    assert len(ended.complaint.splitlines()) == 1
