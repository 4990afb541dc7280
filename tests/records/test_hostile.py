"""Bytes from anyone: whatever they are, only a RecordsError leaves, and memory stays bounded."""

import contextlib
import struct
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbroker.records import (
    BatchTooLarge,
    Compression,
    CorruptRecords,
    InvalidBatch,
    Limits,
    Record,
    RecordsError,
    build_batch,
    check_produced,
    crc_matches,
    marker_of,
    parse_records,
    read_header,
    scan_batches,
)
from kbroker.records.varint import encode_varint
from tests.records.samples import RECORDS, with_fields

BATCHES = [bytes(build_batch(RECORDS, compression=codec)) for codec in Compression]
PLAIN = BATCHES[0]
EXAMPLES = settings(max_examples=1000, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def open_everything(buffer: bytes) -> None:
    """All that the package does with bytes it was given; RecordsError is all it may raise."""
    for position, header in scan_batches(buffer):
        crc_matches(buffer, position, header)
        for record in parse_records(buffer, header, position):
            struct.pack(">qq", record.offset, record.timestamp_ms)
            if header.is_control:
                marker_of(record)


def with_payload(payload: bytes, count: int, **fields: int) -> bytes:
    """A batch around ``payload`` whose header claims ``count`` records."""
    size = {"batch_length": 49 + len(payload), "last_offset_delta": max(count - 1, 0)}
    return bytes(with_fields(PLAIN[:61] + payload, record_count=count, **size | fields))


def refused(buffer: bytes, limits: Limits | None = None) -> type[RecordsError]:
    with pytest.raises(RecordsError) as error:
        parse_records(buffer, read_header(buffer), limits=limits or Limits())
    return type(error.value)


@EXAMPLES
@given(
    batch=st.sampled_from(BATCHES),
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6),
    cut=st.none() | st.integers(0, 400),
)
def test_changed_batches_raise_nothing_but_records_errors(batch, changes, cut):
    changed = bytearray(batch)
    for position, byte in changes:
        changed[position % len(changed)] = byte
    for buffer in (bytes(changed[:cut]), batch + bytes(changed[:cut])):
        for act in (open_everything, check_produced):
            try:
                act(buffer)
            except RecordsError:
                continue


@EXAMPLES
@given(
    payload=st.binary(max_size=120),
    count=st.integers(-2, 30),
    attributes=st.integers(-(2**15), 2**15 - 1),
    base_offset=st.integers(0, 2**62),
    base_timestamp_ms=st.integers(-(2**63), 2**63 - 1),
)
def test_noise_for_records_raises_nothing_but_records_errors(payload, count, **fields):
    with contextlib.suppress(RecordsError):
        open_everything(with_payload(payload, count, **fields))


@EXAMPLES
@given(st.binary(max_size=300))
def test_pure_noise_raises_nothing_but_records_errors(noise):
    for act in (open_everything, check_produced, read_header):
        try:
            act(noise)
        except RecordsError:
            continue


@EXAMPLES
@given(
    batch=st.sampled_from(BATCHES),
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_changed_batches_allocate_little(batch, changes):
    changed = bytearray(batch)
    for position, byte in changes:
        changed[61 + position % (len(changed) - 61)] = byte
    buffer = bytes(changed)
    header = read_header(buffer)
    limits = Limits(max_decompressed_bytes=64 * 1024)

    tracemalloc.start()
    try:
        parse_records(buffer, header, limits=limits)
    except RecordsError:
        pass
    finally:
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    # What a codec hands out, once more when joined, and the records made of it.
    assert peak_bytes < 4 * 64 * 1024 + 16 * len(buffer)


def test_a_huge_record_count_allocates_nothing():
    buffer = with_payload(bytes(70), 10**9)
    tracemalloc.start()
    try:
        assert refused(buffer, Limits(max_records=2**31)) is CorruptRecords
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak_bytes < 64 * 1024
    assert refused(buffer) is BatchTooLarge


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("00 00 00 06 61 01 00", id="a key longer than its record"),
        pytest.param("00 00 00 01 06 61 00", id="a value longer than its record"),
        pytest.param("00 00 00 01 01 00 00", id="a byte behind the headers"),
        pytest.param("00 00 00 03 01 00", id="a key length of -2"),
        pytest.param("00 00 00 01 01 01", id="a negative header count"),
        pytest.param("00 00 00 01 01 7e", id="more headers than bytes"),
        pytest.param("00 00 00 01 01 02 01 01", id="a header without a key"),
        pytest.param("00 00 02 01 01 00", id="an offset behind the last"),
        pytest.param("00 00 01 01 01 00", id="a negative offset delta"),
        pytest.param(
            "00 fe ff ff ff ff ff ff ff ff 01 00 01 01 00", id="a timestamp beyond 64 bits"
        ),
    ],
)
def test_a_record_that_is_none_is_corrupt(body):
    record = bytes.fromhex(body)

    assert refused(with_payload(encode_varint(len(record)) + record, 1)) is CorruptRecords


def test_offsets_must_rise():
    twice = bytes.fromhex("0c 00 00 00 01 01 00") * 2

    assert refused(with_payload(twice, 2)) is CorruptRecords


def test_too_few_and_too_many_bytes_for_the_count_are_corrupt():
    payload = PLAIN[61:]

    assert refused(with_payload(payload, 4)) is CorruptRecords
    assert refused(with_payload(payload, 6)) is CorruptRecords
    assert refused(with_payload(payload[:-1], 5)) is CorruptRecords
    assert refused(with_payload(payload, -1)) is CorruptRecords


def test_a_batch_that_is_not_all_there_is_not_opened():
    with pytest.raises(CorruptRecords):
        parse_records(PLAIN[:-1], read_header(PLAIN))


def test_limits_are_exact():
    headers = tuple(("k", None) for _ in range(1001))
    allowed = build_batch([Record(0, 0, None, None, headers[:1000])])
    too_many = build_batch([Record(0, 0, None, None, headers)])

    assert len(parse_records(allowed, read_header(allowed))[0].headers) == 1000
    assert refused(too_many) is InvalidBatch
    assert len(parse_records(PLAIN, read_header(PLAIN), limits=Limits(max_records=5))) == 5
    assert refused(PLAIN, Limits(max_records=4)) is BatchTooLarge
