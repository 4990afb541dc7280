"""Produce: good batches in every version, and everything a producer can get wrong."""

import struct
import zlib
from typing import cast

from compat_tests.differential.run import Run
from compat_tests.differential.steps.reading import fetch_from
from kbroker.model import ZERO_UUID, Uuid
from kbroker.records import Compression
from kbroker.records.header import compute_crc
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

OLDEST = 3
NEWEST = 13
# The newest version that names topics; later ones give their ids.
BY_NAME = 12
ALL = -1
_MAX_INT64 = 2**63 - 1


def produce(run: Run) -> None:
    topic_id = run.create("written", partitions=2)
    for version in range(OLDEST, NEWEST + 1):
        by_id = version > BY_NAME
        produce_to(
            run,
            f"produce v{version}",
            "" if by_id else "written",
            run.batch(b"a", b"b", at=version * 10_000),
            version=version,
            topic_id=topic_id if by_id else ZERO_UUID,
        )
    for acks in (1, 2, -2):
        produce_to(run, f"produce with acks={acks}", "written", run.batch(b"c"), acks=acks)
    _unknown_places(run)
    _no_answers(run)
    _bad_batches(run)
    _compression(run)


def _unknown_places(run: Run) -> None:
    batch = run.batch(b"a")
    unknown = Uuid(b"\x03" * 16)
    run.names.topics[unknown] = "<unknown id>"
    for version in (OLDEST, BY_NAME):
        produce_to(
            run, f"produce to an unknown topic v{version}", "nowhere", batch, version=version
        )
        name = f"produce to an unknown partition v{version}"
        produce_to(run, name, "written", batch, index=9, version=version)
    produce_to(run, "produce to a negative partition", "written", batch, index=-1)
    produce_to(run, "produce to an invalid topic", "a b", batch)
    produce_to(run, "produce to an unknown id", "", batch, version=NEWEST, topic_id=unknown)
    produce_to(run, "produce to no id", "", batch, version=NEWEST)
    run.ask("produce nothing", ProduceRequest(acks=ALL, timeout_ms=1000), BY_NAME)
    empty = [TopicProduceData(name="written")]
    run.ask(
        "produce to no partition",
        ProduceRequest(acks=ALL, timeout_ms=1000, topic_data=empty),
        BY_NAME,
    )
    mixed = [
        TopicProduceData(
            name="written",
            partition_data=[
                PartitionProduceData(index=1, records=run.batch(b"m")),
                PartitionProduceData(index=7, records=run.batch(b"m")),
            ],
        ),
        TopicProduceData(
            name="nowhere", partition_data=[PartitionProduceData(index=0, records=batch)]
        ),
    ]
    run.ask("produce good and bad", ProduceRequest(acks=1, topic_data=mixed), BY_NAME)


def _no_answers(run: Run) -> None:
    run.send("produce with acks=0", _request("written", run.batch(b"z"), acks=0), BY_NAME)
    bad = _request("nowhere", run.batch(b"z"), acks=0)
    run.send("produce with acks=0 to an unknown topic", bad, BY_NAME)
    produce_to(run, "produce after acks=0", "written", run.batch(b"after"), acks=1)


def _bad_batches(run: Run) -> None:
    """Each to a partition of its own, so that one that is taken moves no other."""
    run.create("mistaken", partitions=40)
    good = run.batch(b"good", b"better")
    flipped = bytearray(good)
    flipped[-1] ^= 1
    bad = (
        ("a wrong CRC", bytes(flipped)),
        ("empty records", b""),
        ("ten bytes", good[:10]),
        ("a batch without its end", good[:-1]),
        ("bytes behind a batch", good + b"\x00\x00\x00"),
        ("two batches", good + good),
        ("format 0", _old_message(0, run.t0)),
        ("format 1", _old_message(1, run.t0)),
        ("format 3", _with(good, 16, b"\x03")),
        ("a base offset of 77", run.batch(b"late", base_offset=77)),
        ("a negative length", good[:8] + b"\xff\xff\xff\xff" + good[12:]),
        ("a length of 48", good[:8] + b"\x00\x00\x00\x30" + good[12:]),
        ("too few records", _summed(_with(good, 57, struct.pack(">i", 1)))),
        ("too many records", _summed(_with(good, 57, struct.pack(">i", 3)))),
        ("no records", _summed(_with(good, 57, struct.pack(">i", 0)))),
        ("minus one record", _summed(_with(good, 57, struct.pack(">i", -1)))),
        ("a wrong last offset delta", _summed(_with(good, 23, struct.pack(">i", 5)))),
        ("a bare header", _summed(_with(good[:61], 8, struct.pack(">i", 49)))),
        ("a control batch", run.batch(b"c", is_control=True)),
        ("a transactional batch without an id", run.batch(b"t", is_transactional=True)),
        ("compression type 5", _summed(_with(good, 21, b"\x00\x05"))),
        ("undefined attributes", _summed(_with(good, 21, b"\x7f\x00"))),
        ("a claim of log append time", _summed(_with(good, 21, b"\x00\x08"))),
        ("a delete horizon", _summed(_with(good, 21, b"\x00\x40"))),
        ("a leader epoch", _with(good, 12, struct.pack(">i", 9))),
        ("a max timestamp that is too low", _summed(_with(good, 35, struct.pack(">q", run.t0)))),
        ("no timestamp", _summed(_with(good, 35, struct.pack(">q", -1)))),
        ("gzip that is none", _summed(_with(good, 21, b"\x00\x01"))),
        ("lz4 that is none", _summed(_with(good, 21, b"\x00\x03"))),
        ("a record of negative length", _summed(_with(good, 61, b"\x01"))),
        ("a record beyond the batch", _summed(_with(good, 61, b"\x7e"))),
        ("a record with a byte too many", _summed(_lengthened(good))),
        ("a record's offset delta of 9", _summed(_with(good, 64, b"\x12"))),
    )
    for index, (kind, data) in enumerate(bad):
        produce_to(run, f"produce {kind}", "mistaken", data, index=index)
        fetch_from(run, f"fetch {kind}", "mistaken", 0, index=index)
    one = [PartitionProduceData(index=39, records=run.batch(b"%d" % n)) for n in range(2)]
    twice = [TopicProduceData(name="mistaken", partition_data=one)]
    run.ask("produce to one partition twice", ProduceRequest(acks=1, topic_data=twice), BY_NAME)
    fetch_from(run, "fetch from one partition written twice", "mistaken", 0, index=39)
    # Kafka 4.3.1 stumbles over it and never answers.
    run.send("produce null records", _request("written", None), BY_NAME)
    produce_to(run, "produce a wrong CRC v3", "written", bytes(flipped), version=OLDEST)
    produce_to(run, "produce format 1 v3", "written", _old_message(1, run.t0), version=OLDEST)


def _compression(run: Run) -> None:
    for kind in Compression:
        batch = run.batch(b"a" * 500, b"b" * 500, compression=kind)
        produce_to(run, f"produce {kind.name.lower()}", "written", batch)
    packed = run.batch(b"a" * 500, compression=Compression.ZSTD)
    for version in (OLDEST, 6, 7):
        produce_to(run, f"produce zstd v{version}", "written", packed, version=version)
    run.create("squeezed", configs={"compression.type": "gzip"})
    produce_to(run, "produce to a topic of gzip", "squeezed", run.batch(b"a" * 500))


def topics_with_rules(run: Run) -> None:
    """Topics whose configs refuse or change what is produced."""
    run.create("compacted", configs={"cleanup.policy": "compact"})
    produce_to(run, "produce a key to a compacted topic", "compacted", run.batch(b"v", key=b"k"))
    produce_to(run, "produce a tombstone", "compacted", run.batch(None, key=b"k"))
    bare = run.batch(b"v", b"w", key=None)
    for version in (OLDEST, 7, 8, BY_NAME):
        name = f"produce without keys to a compacted topic v{version}"
        produce_to(run, name, "compacted", bare, version=version)
    run.create("stamped", configs={"message.timestamp.type": "LogAppendTime"})
    for version in (OLDEST, BY_NAME):
        name = f"produce to a topic of log append time v{version}"
        produce_to(run, name, "stamped", run.batch(b"a", b"b"), version=version)
    claim = _summed(_with(run.batch(b"a"), 21, b"\x00\x08"))
    produce_to(run, "produce log append time to a topic of it", "stamped", claim)
    run.create(
        "timely",
        configs={
            "message.timestamp.before.max.ms": "7200000",
            "message.timestamp.after.max.ms": "60000",
        },
    )
    day_ms = 86_400_000
    produce_to(run, "produce in time", "timely", run.batch(b"a"))
    produce_to(run, "produce too old", "timely", run.batch(b"a", b"b", at=-day_ms))
    produce_to(run, "produce from the future", "timely", run.batch(b"a", at=day_ms))
    mixed = run.batch(b"a", b"b", at=-7_200_000 + 3_600_000 + 500)
    produce_to(run, "produce old and in time", "timely", mixed)
    produce_to(run, "produce too old v7", "timely", run.batch(b"a", at=-day_ms), version=7)
    produce_to(run, "produce from tomorrow to an easy topic", "written", run.batch(b"a", at=day_ms))
    produce_to(
        run, "produce from the end of time", "written", run.batch(b"a", at=_MAX_INT64 - run.t0)
    )
    run.create("small", configs={"max.message.bytes": "200", "segment.bytes": "1048576"})
    produce_to(run, "produce little enough", "small", run.batch(b"a" * 100))
    produce_to(run, "produce too much", "small", run.batch(b"a" * 300))
    two = run.batch(b"a" * 100) + run.batch(b"b" * 100)
    produce_to(run, "produce too much in two batches", "small", two)


def idempotence(run: Run) -> None:
    """Sequences, duplicates, epochs."""
    run.wait_until("producer ids are at hand", lambda: _gives_producer_ids(run))
    _init_producer_ids(run)
    run.create("idempotent", partitions=2)
    first = init(run, "a producer for sequences")
    second = init(run, "a second producer")

    def write(name: str, epoch: int, sequence: int, count: int = 1, *, by: int = first) -> None:
        values = [b"s%d" % (sequence + number) for number in range(count)]
        batch = run.batch(*values, producer=(by, epoch, sequence))
        produce_to(run, name, "idempotent", batch)

    write("sequence 0", 0, 0, 2)
    write("sequence 2", 0, 2, 2)
    write("sequence 2 again", 0, 2, 2)
    write("sequence 0 again", 0, 0, 2)
    write("sequence 2, but only one", 0, 2)
    write("sequence 5, with a gap", 0, 5)
    write("sequence 4", 0, 4)
    for sequence in (5, 6, 7, 8, 9):
        write(f"sequence {sequence}", 0, sequence)
    write("sequence 0, long past", 0, 0, 2)
    write("a new epoch that starts with 3", 1, 3)
    write("a new epoch", 1, 0)
    write("an old epoch", 0, 10)
    write("a second producer's first is 7", 0, 7, by=second)
    write("an unknown producer", 0, 0, by=987_654)
    write("an unknown producer's sequence 5", 0, 5, by=987_655)
    write("a producer of a negative epoch", -1, 0, by=second)
    write("a producer without sequence", 0, -1, by=second)
    write("an epoch of 32767", 32767, 0, by=987_656)
    wrapped = run.batch(b"x", b"y", b"z", producer=(987_657, 0, 2**31 - 2))
    produce_to(run, "sequences around the end", "idempotent", wrapped, index=1)
    write_next = run.batch(b"n", producer=(987_657, 0, 1))
    produce_to(run, "the sequence after the end", "idempotent", write_next, index=1)
    two = run.batch(b"1", producer=(second, 0, 0)) + run.batch(b"2", producer=(second, 0, 1))
    produce_to(run, "two batches of a producer in one", "idempotent", two, index=1)
    began = run.batch(b"t", producer=(second, 0, 1), is_transactional=True)
    produce_to(run, "a transactional batch without transactional id", "idempotent", began, index=1)
    for version in (3, 11, BY_NAME):
        request = _request("idempotent", began, index=1)
        request.transactional_id = "nobody"
        run.ask(f"a transactional batch of nobody v{version}", request, version)


def _init_producer_ids(run: Run) -> None:
    for version in range(6):
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        run.ask(f"init producer id v{version}", request, version)
    for kind, request in (
        ("no timeout", InitProducerIdRequest(transactional_id=None)),
        (
            "a negative timeout",
            InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=-1),
        ),
        (
            "an id of its own",
            InitProducerIdRequest(transactional_id=None, producer_id=5, producer_epoch=3),
        ),
        (
            "an id and no epoch",
            InitProducerIdRequest(transactional_id=None, producer_id=5, producer_epoch=-1),
        ),
        (
            "an epoch and no id",
            InitProducerIdRequest(transactional_id=None, producer_id=-1, producer_epoch=3),
        ),
        ("an empty transactional id", InitProducerIdRequest(transactional_id="")),
    ):
        run.ask(f"init producer id with {kind}", request, 5)


def _gives_producer_ids(run: Run) -> bool:
    """Whether the broker has a block of ids; Kafka's asks for one when it is first needed."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    return run.quietly(request, InitProducerIdResponse, 5).error_code == 0


def init(run: Run, name: str) -> int:
    """A new producer id, as a step."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    return cast(InitProducerIdResponse, run.ask(name, request, 5)).producer_id


def produce_to(
    run: Run,
    name: str,
    topic: str,
    data: bytes | None,
    *,
    index: int = 0,
    version: int = BY_NAME,
    acks: int = ALL,
    topic_id: bytes = ZERO_UUID,
) -> None:
    request = _request(topic, data, index=index, acks=acks, topic_id=topic_id)
    run.ask(name, request, version)


def _request(
    topic: str,
    data: bytes | None,
    *,
    index: int = 0,
    acks: int = ALL,
    topic_id: bytes = ZERO_UUID,
) -> ProduceRequest:
    written = TopicProduceData(
        name=topic,
        topic_id=Uuid(topic_id),
        partition_data=[PartitionProduceData(index=index, records=data)],
    )
    return ProduceRequest(acks=acks, timeout_ms=5000, topic_data=[written])


def _with(batch: bytes, position: int, data: bytes) -> bytes:
    """The batch with other bytes at one place; its CRC stays."""
    return batch[:position] + data + batch[position + len(data) :]


def _summed(batch: bytes) -> bytes:
    """The batch with the CRC that its bytes have."""
    return _with(batch, 17, struct.pack(">I", compute_crc(batch, 0, len(batch))))


def _lengthened(batch: bytes) -> bytes:
    """The batch with a byte behind the last record's end, which the batch's length counts."""
    return _with(batch + b"\x00", 8, struct.pack(">i", len(batch) + 1 - 12))


def _old_message(magic: int, timestamp_ms: int) -> bytes:
    """One message of format 0 or 1, with key and value."""
    body = bytes([magic, 0])
    if magic == 1:
        body += struct.pack(">q", timestamp_ms)
    body += struct.pack(">i", 1) + b"k" + struct.pack(">i", 5) + b"value"
    message = struct.pack(">I", zlib.crc32(body)) + body
    return struct.pack(">qi", 0, len(message)) + message
