"""Batches that Kafka's Java producer and librdkafka wrote, as a real broker stored them."""

import pytest
from tools.capture_batches import (
    COMPRESSIONS,
    GOLDEN,
    sent_in_transactions,
    sent_records,
)

from kbroker.records import (
    BatchHeader,
    Compression,
    Marker,
    Record,
    build_batch,
    build_marker_batch,
    crc_matches,
    parse_records,
    read_header,
    read_marker,
    rebuild_batch,
    scan_batches,
)
from tests.records.samples import shape

DATA = [f"{client}-{codec}" for client in ("java", "librdkafka") for codec in COMPRESSIONS]
DATA.append("java-plain")


def golden(name: str) -> list[tuple[bytes, BatchHeader]]:
    buffer = (GOLDEN / f"{name}.bin").read_bytes()
    return [
        (buffer[position : position + header.size_bytes], header)
        for position, header in scan_batches(buffer)
    ]


def compression_of(name: str) -> str:
    codec = name.split("-")[1]
    return "none" if codec == "plain" else codec


def built_like(header: BatchHeader, records: list[Record]) -> bytearray:
    return build_batch(
        records,
        base_offset=header.base_offset,
        leader_epoch=header.partition_leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
        compression=header.compression,
    )


@pytest.mark.parametrize("name", DATA)
def test_golden_batches_hold_the_records_that_were_sent(name):
    ((batch, header),) = golden(name)

    assert crc_matches(batch, 0, header)
    assert header.compression is Compression[compression_of(name).upper()]
    assert parse_records(batch, header) == sent_records(compression_of(name))
    assert (header.producer_id >= 0) == (name != "java-plain")


@pytest.mark.parametrize("name", [name for name in DATA if compression_of(name) == "none"])
def test_an_uncompressed_golden_batch_is_rebuilt_byte_for_byte(name):
    ((batch, header),) = golden(name)
    sent = sent_records("none")

    assert built_like(header, sent) == batch
    assert rebuild_batch(header, parse_records(batch, header)) == batch


@pytest.mark.parametrize("name", [name for name in DATA if compression_of(name) != "none"])
def test_a_compressed_golden_batch_is_rebuilt_with_the_same_header_and_records(name):
    ((_batch, header),) = golden(name)
    sent = sent_records(compression_of(name))

    for rebuilt in (built_like(header, sent), rebuild_batch(header, sent)):
        again = read_header(rebuilt)
        assert shape(again) == shape(header)
        assert crc_matches(rebuilt, 0, again)
        assert parse_records(rebuilt, again) == sent


def test_golden_transactions_are_read_and_rebuilt_byte_for_byte():
    batches = golden("java-transactions")
    data, markers = batches[0::2], batches[1::2]

    for (batch, header), (_, sent) in zip(data, sent_in_transactions(), strict=True):
        assert header.is_transactional
        assert not header.is_control
        assert parse_records(batch, header) == sent
        assert built_like(header, sent) == batch

    for (batch, header), (committed, _) in zip(markers, sent_in_transactions(), strict=True):
        assert header.is_transactional
        assert header.is_control
        assert crc_matches(batch, 0, header)
        assert read_marker(batch, header) == Marker(committed, coordinator_epoch=0)
        rebuilt = build_marker_batch(
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            committed=committed,
            coordinator_epoch=0,
            timestamp_ms=header.max_timestamp_ms,
            base_offset=header.base_offset,
            leader_epoch=header.partition_leader_epoch,
        )
        assert rebuilt == batch


def test_java_frames_snappy_blocks_and_librdkafka_does_not():
    """Both forms are in use, so both must stay among the golden files."""
    ((java, _),) = golden("java-snappy")
    ((librdkafka, _),) = golden("librdkafka-snappy")

    assert java[61:69] == b"\x82SNAPPY\x00"
    assert librdkafka[61:69] != b"\x82SNAPPY\x00"
