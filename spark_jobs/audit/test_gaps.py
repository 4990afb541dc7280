"""Why offsets have no record, without Spark."""

from kbroker.client.batches import FoundBatch
from kbroker.records import Record, build_batch, build_marker_batch, read_header
from spark_jobs.audit.gaps import Explanation, explain


def data(*offsets, base=None, last=None, is_aborted=False):
    """A batch with records at ``offsets``, and from ``base`` to ``last`` if that is more."""
    records = [Record(offset=n, timestamp_ms=0, key=b"k", value=b"v") for n in offsets]
    base = offsets[0] if base is None else base
    header = read_header(build_batch(records, base_offset=base, last_offset=last))
    return FoundBatch(header, is_aborted, offsets)


def marker(offset):
    batch = build_marker_batch(
        producer_id=1,
        producer_epoch=0,
        committed=True,
        coordinator_epoch=0,
        timestamp_ms=0,
        base_offset=offset,
    )
    return FoundBatch(read_header(batch), False, (offset,))


def test_markers_and_aborted_records_are_told_apart():
    batches = [data(0, 1), data(2, 3, 4, is_aborted=True), marker(5), data(6), marker(7)]

    assert explain([(2, 5), (7, 7)], batches, is_compacted=False) == Explanation(
        markers=2, aborted=3
    )


def test_what_compaction_took_is_explained_in_compacted_topics_alone():
    """Offset 1 left its batch, 3 to 5 left the log with theirs."""
    missing = [(1, 1), (3, 5)]
    batches = [data(0, 2, base=0, last=2), data(6)]

    assert explain(missing, batches, is_compacted=True) == Explanation(compacted=4)
    assert explain(missing, batches, is_compacted=False) == Explanation(unexplained=4)


def test_a_record_that_should_have_been_read_is_never_explained():
    found = explain([(1, 2)], [data(0, 1, 2)], is_compacted=True)

    assert found == Explanation(unexplained=2)


def test_a_range_may_reach_over_many_batches_and_a_batch_over_many_ranges():
    batches = [data(*range(10), is_aborted=True), marker(10), data(11)]

    found = explain([(0, 1), (3, 4), (6, 10)], batches, is_compacted=False)
    assert found == Explanation(markers=1, aborted=8)


def test_nothing_is_missing():
    assert explain([], [], is_compacted=False) == Explanation()
