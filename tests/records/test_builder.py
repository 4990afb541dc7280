import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.records import (
    Compression,
    Record,
    build_batch,
    build_own_batch,
    crc_matches,
    parse_records,
    read_header,
    rebuild_batch,
    stamp_log_append_time,
)
from tests.records.samples import NOW_MS, RECORDS

nullable_bytes = st.none() | st.binary(max_size=100)
headers = st.lists(st.tuples(st.text(max_size=10), nullable_bytes), max_size=4).map(tuple)
timestamps = st.integers(-1, 2**62)


@st.composite
def rising_records(draw, base_offset: int) -> list[Record]:
    gaps = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=20))
    records = []
    offset = base_offset - 1
    for gap in gaps:
        offset += gap
        record = Record(
            offset, draw(timestamps), draw(nullable_bytes), draw(nullable_bytes), draw(headers)
        )
        records.append(record)
    return records


@given(
    data=st.data(),
    base_offset=st.integers(0, 2**50),
    compression=st.sampled_from(Compression),
    producer_id=st.integers(-1, 2**63 - 1),
    producer_epoch=st.integers(-1, 2**15 - 1),
    base_sequence=st.integers(-1, 2**31 - 1),
    leader_epoch=st.integers(-1, 2**31 - 1),
    is_transactional=st.booleans(),
    is_control=st.booleans(),
    horizon_ms=st.none() | timestamps,
)
def test_whatever_is_built_is_read_back(data, base_offset, compression, horizon_ms, **fields):
    records = data.draw(rising_records(base_offset))

    batch = build_batch(
        records,
        base_offset=base_offset,
        compression=compression,
        delete_horizon_ms=horizon_ms,
        **fields,
    )

    header = read_header(batch)
    assert header.size_bytes == len(batch)
    assert crc_matches(batch, 0, header)
    assert parse_records(batch, header) == records
    assert header.base_offset == base_offset
    assert header.last_offset == records[-1].offset
    assert header.max_timestamp_ms == max(record.timestamp_ms for record in records)
    assert header.compression is compression
    assert header.partition_leader_epoch == fields.pop("leader_epoch")
    assert header.has_delete_horizon == (horizon_ms is not None)
    if horizon_ms is not None:
        assert header.base_timestamp_ms == horizon_ms
    for name, value in fields.items():
        assert getattr(header, name) == value


@given(
    st.lists(st.tuples(st.binary(max_size=300), st.none() | st.binary(max_size=300)), min_size=1),
    st.sampled_from([{}, {"producer_id": 7, "producer_epoch": 2, "is_transactional": True}]),
)
def test_batches_of_our_own_are_what_the_plain_builder_makes(pairs, fields):
    records = [Record(number, NOW_MS, *pair) for number, pair in enumerate(pairs)]
    own = build_own_batch(pairs, timestamp_ms=NOW_MS, **fields)
    assert own == build_batch(records, **fields)


def test_log_append_time_is_what_every_record_says():
    batch = build_batch(RECORDS, log_append_time_ms=NOW_MS + 77)

    header = read_header(batch)
    assert header.is_log_append_time
    assert header.max_timestamp_ms == NOW_MS + 77
    assert {record.timestamp_ms for record in parse_records(batch, header)} == {NOW_MS + 77}


def test_header_keys_that_are_no_text_come_back_as_they_were():
    batch = build_batch([Record(0, 0, None, None, (("kaXXey", b"v"),))]).replace(b"XX", b"\xff\xfe")
    header = read_header(batch)

    records = parse_records(batch, header)

    assert rebuild_batch(header, records)[61:] == batch[61:]


def test_an_eleven_megabyte_record_is_built_and_read():
    record = Record(0, NOW_MS, b"k", b"0123456789a" * 1_000_000)
    for compression in Compression:
        batch = build_batch([record], compression=compression)
        assert parse_records(batch, read_header(batch)) == [record]


@pytest.mark.parametrize("compression", Compression)
def test_c2_a_batch_that_loses_records_keeps_its_offsets_and_sequences(compression):
    original = read_header(
        build_batch(
            [Record(100 + r.offset, r.timestamp_ms, r.key, r.value, r.headers) for r in RECORDS],
            base_offset=100,
            leader_epoch=3,
            producer_id=7,
            producer_epoch=2,
            base_sequence=2**31 - 2,
            is_transactional=True,
            compression=compression,
        )
    )
    kept = [Record(102, NOW_MS - 70_000, b"no value", None)]

    batch = rebuild_batch(original, kept)

    header = read_header(batch)
    assert crc_matches(batch, 0, header)
    assert parse_records(batch, header) == kept
    assert (header.base_offset, header.last_offset) == (100, 104)
    assert header.last_sequence == original.last_sequence
    assert header.attributes == original.attributes
    assert header.record_count == 1
    assert header.max_timestamp_ms == NOW_MS - 70_000
    assert header[9:12] == original[9:12]


@pytest.mark.parametrize("compression", Compression)
def test_c2_a_batch_that_loses_all_records_is_a_bare_header(compression):
    original = read_header(
        build_batch(
            RECORDS,
            producer_id=7,
            producer_epoch=2,
            base_sequence=5,
            compression=compression,
            delete_horizon_ms=NOW_MS,
        )
    )

    batch = rebuild_batch(original, [])

    header = read_header(batch)
    assert len(batch) == header.size_bytes == 61
    assert crc_matches(batch, 0, header)
    assert parse_records(batch, header) == []
    assert (header.base_offset, header.last_offset) == (0, 4)
    assert header.last_sequence == original.last_sequence
    assert header.max_timestamp_ms == original.max_timestamp_ms
    assert header.compression is Compression.NONE
    assert not header.has_delete_horizon


def test_a_delete_horizon_leaves_timestamps_and_stays_when_rebuilt():
    original = build_batch(RECORDS)

    first = rebuild_batch(read_header(original), RECORDS, delete_horizon_ms=NOW_MS + 9)
    second = rebuild_batch(read_header(first), RECORDS[2:])

    for batch, records in ((first, RECORDS), (second, RECORDS[2:])):
        header = read_header(batch)
        assert header.has_delete_horizon
        assert header.base_timestamp_ms == NOW_MS + 9
        assert parse_records(batch, header) == records


def test_log_append_time_survives_the_loss_of_records():
    original = build_batch(RECORDS)
    stamp_log_append_time(original, 0, timestamp_ms=NOW_MS + 55)
    header = read_header(original)

    batch = rebuild_batch(header, parse_records(original, header)[:1])

    assert read_header(batch).max_timestamp_ms == NOW_MS + 55
    assert parse_records(batch, read_header(batch))[0].timestamp_ms == NOW_MS + 55
