"""Scenarios of positions: where a consumer begins, by offset and by time."""

from compat_tests.client import END, Sent
from compat_tests.scenarios.stage import EARLIER_MS, Stage, as_received, numbered


def seek(stage: Stage) -> None:
    """Of 10 records, those from offset 7 on are read from 7; from the end on there are none."""
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(10))

    assert stage.client.consume(topic, 3, start=7) == as_received(numbered(10))[7:]
    assert stage.client.consume(topic, 1, start=END, wait_s=1.5) == []


def seek_in_batch(stage: Stage) -> None:
    """Reading can begin in the middle of a compressed batch: no record before it is given."""
    topic = stage.new_topic()
    stage.helper.produce(topic, numbered(100), compression="gzip")
    # On a busy machine the helper may send its records in several batches.
    widest = max(stage.batches(topic), key=lambda batch: batch.last_offset - batch.base_offset)
    middle = (widest.base_offset + widest.last_offset + 1) // 2
    assert middle > widest.base_offset, "no batch has a middle"

    wanted = as_received(numbered(100))[middle:]
    assert stage.client.consume(topic, len(wanted), start=middle) == wanted


def watermarks(stage: Stage) -> None:
    """First and next offset are (0, 1) after one record, (0, 7) after six more."""
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(1))
    assert stage.client.watermarks(topic) == (0, 1)

    stage.client.produce(topic, numbered(6))
    assert stage.client.watermarks(topic) == (0, 7)


def by_time(stage: Stage) -> None:
    """A time finds the first record that is not older: also in a batch; beyond the last, none."""
    topic = stage.new_topic()
    sent = [Sent(b"a", timestamp_ms=EARLIER_MS + 10 * n) for n in range(100)]
    stage.helper.produce(topic, sent, compression="gzip")

    assert stage.client.offset_for_time(topic, EARLIER_MS - 1) == 0
    assert stage.client.offset_for_time(topic, EARLIER_MS + 500) == 50
    assert stage.client.offset_for_time(topic, EARLIER_MS + 501) == 51
    assert stage.client.offset_for_time(topic, EARLIER_MS + 991) is None
