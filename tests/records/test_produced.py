"""The checks of a produced batch, and that Apache Kafka gives the same answers."""

import pytest

from kbroker.records import (
    BatchTooLarge,
    Compression,
    CorruptRecords,
    InvalidBatch,
    Limits,
    RecordsError,
    UnsupportedCompression,
    UnsupportedMagic,
    build_batch,
    check_produced,
    read_header,
)
from tests.records.raw_produce import produce
from tests.records.samples import RECORDS, with_fields

GOOD = bytes(build_batch(RECORDS))
BROKEN = GOOD[:-1] + bytes([GOOD[-1] ^ 1])

REFUSED: dict[str, tuple[bytes, type[RecordsError]]] = {
    "no batch": (b"", InvalidBatch),
    "half a header": (GOOD[:40], InvalidBatch),
    "a cut batch": (GOOD[:-1], InvalidBatch),
    "a length beyond the end": (with_fields(GOOD, batch_length=10_000), InvalidBatch),
    "two batches": (GOOD + GOOD, InvalidBatch),
    "zeros behind the batch": (GOOD + bytes(30), CorruptRecords),
    "noise behind the batch": (GOOD + b"\xff" * 30, CorruptRecords),
    "a length too short for any format": (with_fields(GOOD, batch_length=10), CorruptRecords),
    "a negative length": (with_fields(GOOD, batch_length=-5), CorruptRecords),
    "magic 0": (with_fields(GOOD, magic=0), UnsupportedMagic),
    "magic 1": (with_fields(GOOD, magic=1), UnsupportedMagic),
    "magic 3": (with_fields(GOOD, magic=3), CorruptRecords),
    "a wrong CRC": (BROKEN, CorruptRecords),
    "a base offset": (with_fields(GOOD, base_offset=5), InvalidBatch),
    "a base offset and a wrong CRC": ((5).to_bytes(8, "big") + BROKEN[8:], InvalidBatch),
    "no records": (with_fields(GOOD, record_count=0, last_offset_delta=-1), InvalidBatch),
    "fewer records than offsets": (with_fields(GOOD, record_count=4), InvalidBatch),
    "more records than offsets": (with_fields(GOOD, record_count=6), InvalidBatch),
    "more records than bytes": (
        with_fields(GOOD, record_count=900, last_offset_delta=899),
        InvalidBatch,
    ),
    "control records": (with_fields(GOOD, attributes=0x20), InvalidBatch),
    "a producer without sequence": (with_fields(GOOD, producer_id=3), InvalidBatch),
}

ERROR_CODES = {"CORRUPT_MESSAGE": 2, "INVALID_RECORD": 87}


@pytest.mark.parametrize("compression", Compression)
def test_a_sound_batch_passes_as_its_header(compression):
    batch = build_batch(RECORDS, compression=compression, producer_id=1, base_sequence=0)

    assert check_produced(memoryview(batch)) == read_header(batch)


@pytest.mark.parametrize("case", REFUSED)
def test_each_flaw_has_its_error(case):
    records, error = REFUSED[case]

    with pytest.raises(RecordsError) as refusal:
        check_produced(records)

    assert type(refusal.value) is error


@pytest.mark.parametrize("number", [5, 6, 7])
def test_an_undefined_compression_type_is_refused(number):
    with pytest.raises(UnsupportedCompression):
        check_produced(with_fields(GOOD, attributes=number))


def test_more_records_than_the_limit_ask_the_producer_to_split():
    with pytest.raises(BatchTooLarge) as refusal:
        check_produced(GOOD, Limits(max_records=4))

    assert refusal.value.kafka_error == "MESSAGE_TOO_LARGE"


@pytest.mark.java
@pytest.mark.slow
def test_apache_kafka_answers_with_the_same_error_codes(apache_kafka):
    theirs = {
        case: produce(apache_kafka.bootstrap, "checked", bytes(records))[0]
        for case, (records, _) in REFUSED.items()
    }

    assert theirs == {case: ERROR_CODES[error.kafka_error] for case, (_, error) in REFUSED.items()}
    assert produce(apache_kafka.bootstrap, "checked", GOOD) == (0, 0)
