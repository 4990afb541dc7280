import pytest

from kbroker.records import (
    ControlType,
    CorruptRecords,
    Marker,
    Record,
    build_batch,
    build_marker_batch,
    control_type_of,
    crc_matches,
    marker_of,
    read_header,
    read_marker,
    rebuild_batch,
)
from tests.records.samples import NOW_MS


@pytest.mark.parametrize("committed", [True, False])
def test_a_marker_says_who_ended_what_and_how(committed):
    batch = build_marker_batch(
        producer_id=4711,
        producer_epoch=3,
        committed=committed,
        coordinator_epoch=12,
        timestamp_ms=NOW_MS,
        base_offset=99,
        leader_epoch=5,
    )

    header = read_header(batch)
    assert crc_matches(batch, 0, header)
    assert header.is_control
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (4711, 3, -1)
    assert (header.base_offset, header.last_offset, header.partition_leader_epoch) == (99, 99, 5)
    assert header.max_timestamp_ms == NOW_MS
    assert read_marker(batch, header) == Marker(committed, coordinator_epoch=12)


@pytest.mark.parametrize(
    ("number", "control_type"),
    [
        (2, ControlType.LEADER_CHANGE),
        (3, ControlType.SNAPSHOT_HEADER),
        (4, ControlType.SNAPSHOT_FOOTER),
        (5, ControlType.KRAFT_VERSION),
        (6, ControlType.KRAFT_VOTERS),
        (99, ControlType.UNKNOWN),
    ],
)
def test_other_control_records_are_known_but_no_markers(number, control_type):
    record = Record(0, NOW_MS, b"\x00\x00\x00" + bytes([number]), b"whatever")

    assert control_type_of(record) is control_type
    assert marker_of(record) is None


def test_a_marker_of_a_later_version_may_be_longer():
    record = Record(0, 0, b"\x00\x01\x00\x01more", b"\x00\x01\x00\x00\x00\x07more")

    assert marker_of(record) == Marker(committed=True, coordinator_epoch=7)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"\x00\x00\x00\x00\x00\x00"),
        (b"\x00\x00\x01", b"\x00\x00\x00\x00\x00\x00"),
        (b"\xff\xff\x00\x01", b"\x00\x00\x00\x00\x00\x00"),
        (b"\x00\x00\x00\x01", None),
        (b"\x00\x00\x00\x01", b"\x00\x00\x00\x00\x00"),
        (b"\x00\x00\x00\x01", b"\xff\xff\x00\x00\x00\x00"),
    ],
)
def test_a_broken_marker_is_corrupt(key, value):
    batch = build_batch([Record(0, 0, key, value)], is_control=True)

    with pytest.raises(CorruptRecords):
        read_marker(batch, read_header(batch))


def test_a_control_batch_whose_record_is_gone_holds_no_marker():
    batch = build_marker_batch(
        producer_id=1, producer_epoch=0, committed=True, coordinator_epoch=0, timestamp_ms=NOW_MS
    )
    emptied = rebuild_batch(read_header(batch), [])

    assert read_marker(emptied, read_header(emptied)) is None
