"""Logs with several segments, records out of order, and logs that lost their start."""

from compat_tests.differential.run import Run
from compat_tests.differential.steps.offsets import EARLIEST, LATEST, delete_before, list_offset
from compat_tests.differential.steps.produce import produce_to
from compat_tests.differential.steps.reading import (
    BY_NAME,
    MEGABYTE,
    fetch_from,
    fetch_request,
    topic_to_fetch,
)
from kbroker.records import Compression, Record, build_batch

_MAX_TIMESTAMP = -3
# Two of them do not fit into the smallest segment that Kafka allows.
_LARGE = 600 * 1024


def segments(run: Run) -> None:
    run.create("segmented", configs={"segment.bytes": str(MEGABYTE)})
    for number in range(4):
        batch = run.batch(b"%d" % number * _LARGE, b"small", at=number * 10_000)
        produce_to(run, f"large batch {number}", "segmented", batch)
    for offset in range(9):
        fetch_from(run, f"fetch from offset {offset} of segments", "segmented", offset)
    for most in (100, _LARGE, 2 * MEGABYTE):
        request = fetch_request([topic_to_fetch("segmented", 2, max_bytes=most)])
        run.ask(f"fetch at most {most} bytes of segments", request, BY_NAME)
    for when in (EARLIEST, LATEST, _MAX_TIMESTAMP):
        list_offset(run, f"offset of {when} of segments", when, topic="segmented")
    for at in (0, 5000, 10_000, 11_000, 25_000, 31_000, 31_001):
        list_offset(run, f"offset of t0+{at} of segments", run.t0 + at, topic="segmented")
    for before in (1, 3, 6):
        delete_before(run, f"delete before {before} of segments", before, topic="segmented")
        list_offset(run, f"earliest after deleting {before}", EARLIEST, topic="segmented")
        list_offset(run, f"t0 after deleting {before}", run.t0, topic="segmented")
        fetch_from(run, f"fetch from the start after deleting {before}", "segmented", before)
        fetch_from(run, f"fetch before the start after deleting {before}", "segmented", before - 1)
    run.create("one-sized", configs={"segment.bytes": str(MEGABYTE)})
    produce_to(run, "produce more than a segment", "one-sized", run.batch(b"x" * MEGABYTE))


def times(run: Run) -> None:
    """Timestamps that go up and down, within a batch and between batches."""
    run.create("untimed", partitions=2)
    for kind, codec in (("plain", Compression.NONE), ("packed", Compression.GZIP)):
        index = 0 if codec is Compression.NONE else 1
        for number, ats in enumerate(((5, 9, 1), (3, 9, 20), (20, 2, -7), (0, 0, 0))):
            batch = _at(run, ats, codec)
            produce_to(run, f"{kind} batch {number} out of order", "untimed", batch, index=index)
        for at in range(-8, 22, 2):
            name = f"offset of t0{at:+}000, {kind}"
            list_offset(run, name, run.t0 + at * 1000, topic="untimed", index=index)
        name = f"offset of the largest time, {kind}"
        list_offset(run, name, _MAX_TIMESTAMP, topic="untimed", index=index)
        fetch_from(run, f"fetch what is out of order, {kind}", "untimed", 0, index=index)
    run.create("timeless")
    timeless = build_batch([Record(0, -1, b"k", b"v"), Record(1, -1, b"k", b"v")])
    produce_to(run, "produce records without time", "timeless", bytes(timeless))
    for when in (EARLIEST, LATEST, _MAX_TIMESTAMP, 0, run.t0):
        name = f"offset of {when if when <= 0 else 't0'} among records without time"
        list_offset(run, name, when, topic="timeless")
    ancient = build_batch([Record(0, -5, b"k", b"v")])
    produce_to(run, "produce records from before 1970", "timeless", bytes(ancient))
    fetch_from(run, "fetch records without time", "timeless", 0)


def _at(run: Run, seconds: tuple[int, ...], codec: Compression) -> bytes:
    records = [
        Record(number, run.t0 + at * 1000, b"k", b"v", (("h", None), ("h", b"1")))
        for number, at in enumerate(seconds)
    ]
    return bytes(build_batch(records, compression=codec))
