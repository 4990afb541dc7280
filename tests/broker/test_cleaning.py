"""A broker compacts its logs by itself, and one that it cannot read stops it for no other."""

import time
from pathlib import Path

from kbroker.records import Record, build_batch, parse_records, scan_batches
from kbroker.testing import Broker
from tests.broker.conversation import TIMESTAMP_MS, Conversation, data_of

EAGER = {"log.cleaner.backoff.ms": "20"}
PATIENCE_S = 20.0


def produce(talk: Conversation, topic: str, *pairs: tuple[bytes, bytes | None]) -> None:
    """One batch and, with `segment.ms` at 1, one segment for each record."""
    for number, (key, value) in enumerate(pairs):
        record = Record(0, TIMESTAMP_MS + 10 * number, key, value)
        assert talk.produce(topic, build_batch([record])).error_code == 0


def records(talk: Conversation, topic: str) -> list[tuple[int, bytes | None, bytes | None]]:
    found: list[tuple[int, bytes | None, bytes | None]] = []
    offset = 0
    while data := bytes(data_of(talk.fetch({(topic, 0): offset}))[topic, 0].records or b""):
        for position, header in scan_batches(data):
            offset = header.next_offset
            found += [(r.offset, r.key, r.value) for r in parse_records(data, header, position)]
    return found


def wait_for(talk: Conversation, topic: str, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while len(records(talk, topic)) != count:
        assert time.monotonic() < deadline, records(talk, topic)
        time.sleep(0.02)


def create(talk: Conversation, topic: str) -> None:
    talk.create_topic(
        topic, cleanup_policy="compact", segment_ms="1", min_cleanable_dirty_ratio="0.01"
    )


UPDATES = [(b"a", b"1"), (b"b", b"1"), (b"a", b"2"), (b"b", b"2"), (b"c", b"1")]


def test_the_last_value_of_each_key_is_left_and_the_checkpoint_says_how_far(tmp_path: Path):
    with Broker(data_dir=str(tmp_path), configs=EAGER) as broker:
        talk = Conversation.with_broker(broker)
        create(talk, "prices")
        produce(talk, "prices", *UPDATES)
        wait_for(talk, "prices", 3)

        assert records(talk, "prices") == [(2, b"a", b"2"), (3, b"b", b"2"), (4, b"c", b"1")]
        talk.connection.close()
    checkpoint = (tmp_path / "cleaner-offset-checkpoint").read_text()
    assert checkpoint == "0\n1\nprices 0 4\n"
    names = [path.name for path in (tmp_path / "prices-0").iterdir()]
    assert [name for name in names if name.endswith((".deleted", ".swap", ".cleaned"))] == []

    with Broker(data_dir=str(tmp_path), configs=EAGER) as broker:
        talk = Conversation.with_broker(broker)
        assert [key for _, key, _ in records(talk, "prices")] == [b"a", b"b", b"c"]
        talk.connection.close()


def test_a_log_that_cannot_be_read_is_left_alone_and_others_are_cleaned(tmp_path: Path):
    with Broker(data_dir=str(tmp_path), configs={"log.cleaner.enable": "false"}) as broker:
        talk = Conversation.with_broker(broker)
        for topic in ("good", "spoiled"):
            create(talk, topic)
            produce(talk, topic, *UPDATES)
        assert len(records(talk, "good")) == len(UPDATES), "it is switched off"
        talk.connection.close()
    first = tmp_path / "spoiled-0" / "00000000000000000000.log"
    damaged = bytearray(first.read_bytes())
    damaged[-2] ^= 1
    first.write_bytes(damaged)

    with Broker(data_dir=str(tmp_path), configs=EAGER) as broker:
        talk = Conversation.with_broker(broker)
        wait_for(talk, "good", 3)
        assert first.read_bytes() == damaged
        talk.connection.close()
    checkpoint = (tmp_path / "cleaner-offset-checkpoint").read_text()
    assert checkpoint == "0\n1\ngood 0 4\n"


def test_a_slow_round_does_not_keep_the_broker_from_stopping(tmp_path: Path):
    slow = {"log.cleaner.io.max.bytes.per.second": "1.0"}
    with Broker(data_dir=str(tmp_path), configs=EAGER | slow) as broker:
        talk = Conversation.with_broker(broker)
        create(talk, "slow")
        produce(talk, "slow", *UPDATES)
        directory = tmp_path / "slow-0"
        time.sleep(0.2)
        talk.connection.close()
        begun = time.monotonic()
    assert time.monotonic() - begun < PATIENCE_S
    assert list(directory.glob("*.cleaned")) == []
    assert not (tmp_path / "cleaner-offset-checkpoint").exists()
