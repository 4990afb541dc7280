"""How a replay is cut, without Spark."""

from spark_jobs.lake_to_topic.slices import MAX_BUCKETS, Bucket, Slice, bucket_width_ms, slices


def test_neighbours_go_together_as_long_as_they_fit():
    buckets = [Bucket(0, 10, 3), Bucket(10, 20, 4), Bucket(50, 60, 5)]

    assert list(slices(buckets, max_rows=7)) == [Slice(0, 20, 7), Slice(50, 60, 5)]


def test_what_is_too_much_for_one_slice_is_cut_by_key():
    cut = list(slices([Bucket(0, 1, 25)], max_rows=10))

    assert [(each.part, each.parts) for each in cut] == [(0, 3), (1, 3), (2, 3)]
    assert sum(each.rows for each in cut) == 25
    assert max(each.rows for each in cut) <= 10


def test_no_rows_are_no_slices():
    assert list(slices([], max_rows=10)) == []


def test_buckets_are_never_too_many_nor_narrower_than_a_millisecond():
    assert bucket_width_ms(0, 1) == 1
    year_ms = 366 * 86_400_000
    assert year_ms / bucket_width_ms(0, year_ms) <= MAX_BUCKETS
