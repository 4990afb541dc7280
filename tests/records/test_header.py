import pytest

from kbroker.records import (
    BatchHeader,
    Compression,
    CorruptRecords,
    Record,
    TruncatedRecords,
    UnsupportedCompression,
    UnsupportedMagic,
    build_batch,
    crc_matches,
    parse_records,
    read_header,
    scan_batches,
    stamp,
    stamp_create_time,
    stamp_log_append_time,
    stamp_max_timestamp,
)
from tests.records.samples import NOW_MS, RECORDS, with_fields


def batch(**fields) -> bytearray:
    return build_batch(RECORDS, producer_id=7, producer_epoch=1, base_sequence=40, **fields)


def test_the_header_is_read_where_it_lies():
    buffer = b"before" + batch(base_offset=0, leader_epoch=9) + b"behind"

    header = read_header(buffer, 6)

    assert header == BatchHeader(
        base_offset=0,
        batch_length=len(buffer) - 12 - 12,
        partition_leader_epoch=9,
        magic=2,
        crc=header.crc,
        attributes=0,
        last_offset_delta=4,
        base_timestamp_ms=NOW_MS,
        max_timestamp_ms=NOW_MS + 5,
        producer_id=7,
        producer_epoch=1,
        base_sequence=40,
        record_count=5,
    )
    assert (header.last_offset, header.next_offset, header.last_sequence) == (4, 5, 44)
    assert header.size_bytes == len(buffer) - 12
    assert crc_matches(buffer, 6, header)


@pytest.mark.parametrize("length", [0, 16, 60])
def test_a_buffer_that_ends_inside_the_header_is_truncated(length):
    with pytest.raises(TruncatedRecords):
        read_header(batch()[:length])


@pytest.mark.parametrize(
    ("base", "delta", "last"),
    [(0, 0, 0), (2147483647, 0, 2147483647), (2147483647, 1, 0), (2147483645, 9, 6), (-1, 9, -1)],
)
def test_p3_the_last_sequence_wraps_from_the_largest_to_zero(base, delta, last):
    header = read_header(with_fields(batch(), base_sequence=base, last_offset_delta=delta))

    assert header.last_sequence == last


def test_each_attribute_has_its_bit():
    def of(attributes: int) -> BatchHeader:
        return read_header(batch())._replace(attributes=attributes)

    assert [of(number).compression for number in range(5)] == list(Compression)
    for bit in (0x00, 0x07, 0x08, 0x10, 0x20, 0x40):
        header = of(bit)
        assert header.is_log_append_time == (bit == 0x08)
        assert header.is_transactional == (bit == 0x10)
        assert header.is_control == (bit == 0x20)
        assert header.has_delete_horizon == (bit == 0x40)


@pytest.mark.parametrize("number", [5, 6, 7])
def test_an_undefined_compression_type_is_said_to_be_so(number):
    with pytest.raises(UnsupportedCompression):
        _ = read_header(batch())._replace(attributes=number).compression


def test_any_changed_byte_from_the_attributes_on_breaks_the_crc():
    original = batch()
    for position in range(17, len(original)):
        changed = bytearray(original)
        changed[position] ^= 0x40
        assert not crc_matches(changed, 0, read_header(changed)), position


def test_the_crc_of_a_batch_that_is_not_all_there_does_not_match():
    original = batch()

    assert not crc_matches(original[:-1], 0, read_header(original))
    assert not crc_matches(original, 0, read_header(original)._replace(batch_length=-13))


def test_stamping_the_place_in_the_log_leaves_the_crc_right():
    buffer = bytearray(b"before") + batch()

    stamp(memoryview(buffer), 6, base_offset=2**40, leader_epoch=17)

    header = read_header(buffer, 6)
    assert (header.base_offset, header.partition_leader_epoch) == (2**40, 17)
    assert crc_matches(buffer, 6, header)
    assert [record.offset for record in parse_records(buffer, header, 6)] == [
        2**40 + delta for delta in range(5)
    ]


@pytest.mark.parametrize("compression", Compression)
def test_log_append_time_takes_the_place_of_every_timestamp(compression):
    buffer = bytearray(b"before") + batch(compression=compression)

    stamp_log_append_time(buffer, 6, timestamp_ms=NOW_MS + 999)

    header = read_header(buffer, 6)
    assert header.is_log_append_time
    assert header.compression is compression
    assert crc_matches(buffer, 6, header)
    assert {record.timestamp_ms for record in parse_records(buffer, header, 6)} == {NOW_MS + 999}


def test_create_time_gives_the_records_their_own_timestamps_back():
    buffer = batch()
    original = bytes(buffer)
    stamp_log_append_time(buffer, 0, timestamp_ms=NOW_MS + 5)

    stamp_create_time(buffer, 0)

    assert buffer == original


def test_a_new_max_timestamp_is_inside_the_crc():
    buffer = batch()

    stamp_max_timestamp(buffer, 0, timestamp_ms=5)

    header = read_header(buffer)
    assert header.max_timestamp_ms == 5
    assert crc_matches(buffer, 0, header)


def test_batches_in_a_row_are_found_one_by_one():
    first, second = batch(), build_batch([Record(0, 1, None, None)], compression=Compression.LZ4)

    found = list(scan_batches(bytes(first + second + first)))

    positions = [0, len(first), len(first) + len(second)]
    assert [position for position, _ in found] == positions
    assert [header.record_count for _, header in found] == [5, 1, 5]


def test_no_bytes_are_no_batches():
    assert list(scan_batches(b"")) == []


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_what_lies_before_a_truncated_batch_is_still_found(cut):
    scan = scan_batches(batch() + batch()[:-cut])

    assert next(scan)[0] == 0
    with pytest.raises(TruncatedRecords):
        next(scan)


@pytest.mark.parametrize("magic", [0, 1])
def test_message_formats_0_and_1_are_recognised_and_refused(magic):
    with pytest.raises(UnsupportedMagic) as refusal:
        list(scan_batches(with_fields(batch(), magic=magic)))

    assert refusal.value.kafka_error == "INVALID_RECORD"


@pytest.mark.parametrize(
    "fields", [{"magic": 3}, {"magic": -1}, {"batch_length": 48}, {"batch_length": -1}]
)
def test_what_no_format_allows_is_corrupt(fields):
    with pytest.raises(CorruptRecords):
        list(scan_batches(with_fields(batch(), **fields)))


def test_zeros_as_a_file_grown_by_a_crash_has_are_corrupt():
    with pytest.raises(CorruptRecords):
        list(scan_batches(bytes(4096)))
