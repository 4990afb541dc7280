"""The same work for each codec: a row of the table is a few functions without arguments.

kafka-python and kio work on objects of their own, which they decode from the bytes kbroker wrote;
that they write the same bytes again shows that all do the same work.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from kafka.protocol import consumer as kafka_consumer
from kafka.protocol import metadata as kafka_metadata
from kafka.protocol import producer as kafka_producer
from kafka.record.default_records import DefaultRecordBatch
from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from benchmarks.codec import samples
from kbroker.records import check_produced
from kbroker.wire.message import Message, Request, Response
from kbroker.wire.messages.fetch import FetchRequest

Work = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One row. A codec that cannot do the work is None."""

    name: str
    kbroker: Work
    kafka_python: Work
    kio: Work | None


def cases() -> list[Case]:
    """All rows."""
    return [
        _decoding(
            "decode Produce, 6 batches of 64 KB",
            samples.produce_request(6, 64 * 1024),
            samples.PRODUCE_VERSION,
            kafka_producer.ProduceRequest,
        ),
        _decoding(
            "decode Produce, 6 batches of 1 KB",
            samples.produce_request(6, 1024),
            samples.PRODUCE_VERSION,
            kafka_producer.ProduceRequest,
        ),
        _encoding(
            "encode the answer to either",
            samples.produce_response(6),
            samples.PRODUCE_VERSION,
            kafka_producer.ProduceResponse,
        ),
        _decoding(
            "decode Fetch, 100 partitions",
            samples.fetch_request(100),
            samples.FETCH_VERSION,
            kafka_consumer.FetchRequest,
        ),
        _reading_fetch(100),
        _encoding(
            "encode Metadata, 1,000 partitions",
            samples.metadata_response(1000),
            samples.METADATA_VERSION,
            kafka_metadata.MetadataResponse,
        ),
        _decoding(
            "decode JoinGroup",
            samples.join_group_request(),
            samples.JOIN_GROUP_VERSION,
            kafka_consumer.JoinGroupRequest,
        ),
        _batch_check(),
    ]


def _decoding(name: str, request: Request, version: int, kafka_class: type) -> Case:
    encoded = request.encode_bytes(version)
    decoder = type(request).decoder(version)
    size = len(encoded)
    read = entity_reader(load_request_schema(request.api_key, version))
    assert _kafka_bytes(kafka_class, encoded, version) == encoded
    assert read(encoded, 0)[1] == size
    return Case(
        name,
        lambda: decoder(encoded, 0, size),
        lambda: _kafka_decode(kafka_class, encoded, version),
        lambda: read(encoded, 0),
    )


def _reading_fetch(partitions: int) -> Case:
    """Decoding, and then what a broker does first: look at what is asked of each partition."""
    asked = samples.fetch_request(partitions)
    decoding = _decoding("", asked, samples.FETCH_VERSION, kafka_consumer.FetchRequest)
    assert decoding.kio is not None
    decode, kafka_decode, kio_decode = decoding.kbroker, decoding.kafka_python, decoding.kio

    def read(request: FetchRequest) -> list[tuple[int, int, int]]:
        return [
            (one.partition, one.fetch_offset, one.partition_max_bytes)
            for topic in request.topics
            for one in topic.partitions
        ]

    def kbroker() -> list[tuple[int, int, int]]:
        return read(cast(tuple[FetchRequest, int], decode())[0])

    def kafka_python() -> list[tuple[int, int, int]]:
        return read(cast(FetchRequest, kafka_decode()))  # whose names are the same

    def kio() -> list[tuple[int, int, int]]:
        return read(cast(tuple[FetchRequest, int], kio_decode())[0])

    assert kbroker() == kafka_python() == kio()
    return Case("the same, and look at each", kbroker, kafka_python, kio)


def _encoding(name: str, response: Response, version: int, kafka_class: type) -> Case:
    encoded = response.encode_bytes(version)
    twin = _kafka_twin(kafka_class, encoded, version)
    schema = load_response_schema(response.api_key, version)
    entity, _ = entity_reader(schema)(encoded, 0)
    write = entity_writer(schema)

    def kio_write() -> bytes:
        buffer = io.BytesIO()
        write(buffer, entity)
        return buffer.getvalue()

    assert _kafka_bytes(kafka_class, encoded, version) == encoded
    assert kio_write() == encoded
    message: Message = response
    return Case(
        name,
        lambda: message.encode(version),
        lambda: twin.encode(version=version),  # type: ignore[attr-defined]
        kio_write,
    )


def _kafka_decode(kafka_class: type, encoded: bytes, version: int) -> object:
    return kafka_class.decode(encoded, version=version)  # type: ignore[attr-defined]


def _kafka_twin(kafka_class: type, encoded: bytes, version: int) -> object:
    twin = _kafka_decode(kafka_class, encoded, version)
    # Its encoder wants to see that a decoded message has no header.
    twin._header = None  # type: ignore[attr-defined]
    return twin


def _kafka_bytes(kafka_class: type, encoded: bytes, version: int) -> bytes:
    twin = _kafka_twin(kafka_class, encoded, version)
    return bytes(twin.encode(version=version))  # type: ignore[attr-defined]


def _batch_check() -> Case:
    batch = samples.batch(64 * 1024)
    assert DefaultRecordBatch(batch).validate_crc()
    return Case(
        "check a batch of 64 KB, CRC included",
        lambda: check_produced(batch),
        lambda: DefaultRecordBatch(batch).validate_crc(),
        # kio reads all records of a batch, or nothing.
        None,
    )
