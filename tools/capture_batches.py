"""Captures the golden batches of tests/golden/records from the log files of Apache Kafka.

    .venv/bin/python -m tools.capture_batches

Kafka's Java producer and librdkafka send known records to a real broker, which writes its log
segments; the bytes of these are the golden files. What was sent is in this module, so the tests
compare what we read with what was sent, not with what somebody read.
"""

import base64
import json
from pathlib import Path

from confluent_kafka import Producer

from kbroker.records import Header, Record
from tools.apache_kafka import ApacheKafka, run_java

GOLDEN = Path(__file__).parent.parent / "tests" / "golden" / "records"
PRODUCE_BATCHES = Path(__file__).parent / "java" / "ProduceBatches.java"

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
CAPTURED_AT_MS = 1_700_000_000_000

_HEADERS: tuple[Header, ...] = (("one", b"1"), ("null", None), ("Größe", b""), ("one", b"again"))


def sent_records(compression: str) -> list[Record]:
    """What the data batch of a compression type holds, with the offsets the broker gives.

    Every field takes every shape: null, empty, short, longer than a one-byte length; timestamps
    go back and far ahead; there is more than one block for the codecs that work in blocks.
    """
    lines = b"".join(b"line %d\n" % number for number in range(12_000))
    large = lines[:300] if compression == "none" else lines
    return [
        Record(0, CAPTURED_AT_MS, b"key", b"value"),
        Record(1, CAPTURED_AT_MS + 5, None, b"no key"),
        Record(2, CAPTURED_AT_MS - 86_400_000, b"no value", None),
        Record(3, CAPTURED_AT_MS + 100, b"", b"", _HEADERS),
        Record(4, CAPTURED_AT_MS + 3_000_000_000, b"large", large),
        Record(5, CAPTURED_AT_MS + 100, None, None, (("only", b"headers"),)),
    ]


def sent_in_transactions() -> list[tuple[bool, list[Record]]]:
    """The records of the two transactions, with what ended them: committed or not.

    The markers take offsets 2 and 4.
    """
    committed = [
        Record(0, CAPTURED_AT_MS, b"a", b"committed"),
        Record(1, CAPTURED_AT_MS + 1, b"b", b"committed"),
    ]
    return [(True, committed), (False, [Record(3, CAPTURED_AT_MS + 2, b"a", b"aborted")])]


def main() -> None:
    """Start a broker, send everything, copy its segments."""
    # The records are years older than their markers, and shall stay, all in one segment.
    properties = {"log.retention.ms": "-1", "log.roll.ms": str(2**62)}
    with ApacheKafka(properties=properties) as kafka:
        run_java(PRODUCE_BATCHES, kafka.bootstrap, stdin=json.dumps(_java_batches()).encode())
        for compression in COMPRESSIONS:
            _send_with_librdkafka(kafka.bootstrap, compression)
        kafka.stop()
        for directory in sorted(kafka.log_dir.glob("golden-*-0")):
            (segment,) = directory.glob("*.log")
            name = directory.name.removeprefix("golden-").removesuffix("-0")
            (GOLDEN / f"{name}.bin").write_bytes(segment.read_bytes())
            print(f"{name}.bin: {segment.stat().st_size} bytes")


def _java_batches() -> list[dict[str, object]]:
    """What tools/java/ProduceBatches.java is told to send."""
    batches = [
        _java_batch(f"java-{compression}", compression, "idempotent", sent_records(compression))
        for compression in COMPRESSIONS
    ]
    batches.append(_java_batch("java-plain", "none", "plain", sent_records("none")))
    for committed, records in sent_in_transactions():
        mode = "commit" if committed else "abort"
        batches.append(_java_batch("java-transactions", "none", mode, records))
    return batches


def _java_batch(name: str, compression: str, mode: str, records: list[Record]) -> dict[str, object]:
    return {
        "topic": f"golden-{name}",
        "compression": compression,
        "mode": mode,
        "records": [
            {
                "timestamp": record.timestamp_ms,
                "key": _base64(record.key),
                "value": _base64(record.value),
                "headers": [[key, _base64(value)] for key, value in record.headers],
            }
            for record in records
        ],
    }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _send_with_librdkafka(bootstrap: str, compression: str) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "compression.type": compression,
            "linger.ms": 500,
            "enable.idempotence": True,
        }
    )
    for record in sent_records(compression):
        producer.produce(
            f"golden-librdkafka-{compression}",
            value=record.value,
            key=record.key,
            partition=0,
            timestamp=record.timestamp_ms,
            headers=list(record.headers),
        )
    left = producer.flush(30)
    if left:
        raise RuntimeError(f"librdkafka did not deliver {left} records with {compression}")


if __name__ == "__main__":
    main()
