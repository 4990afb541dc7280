"""Where dead letters go, on static frames."""

from spark_jobs.dead_letter_replay.transform import reasons, replayed


def letter(*, topic="orders", retries=None, **more):
    headers = [("trace", "7"), ("dead-letter-reason", "bad"), ("dead-letter-topic", topic)]
    if retries is not None:
        headers.append(("dead-letter-retries", str(retries)))
    return {"topic": "dead", "key": "k", "value": "v", "headers": headers} | more


def headers_of(row):
    return [(header.key, bytes(header.value).decode()) for header in row.headers]


def test_a_letter_goes_back_with_its_own_headers_and_the_counter_one_up(record_frame):
    rows = record_frame(letter(), letter(retries=1))

    first, second = replayed(rows, max_retries=2, parking_topic="parked").collect()

    assert (first.topic, bytes(first.key), bytes(first.value)) == ("orders", b"k", b"v")
    assert headers_of(first) == [("trace", "7"), ("dead-letter-retries", "1")]
    assert headers_of(second) == [("trace", "7"), ("dead-letter-retries", "2")]


def test_what_failed_too_often_is_parked_with_all_it_says(record_frame):
    [row] = replayed(
        record_frame(letter(retries=2)), max_retries=2, parking_topic="parked"
    ).collect()

    assert row.topic == "parked"
    found = dict(headers_of(row))
    assert found["dead-letter-reason"] == "bad"
    assert found["dead-letter-topic"] == "orders"
    assert found["dead-letter-parked"] == "it was put back as often as allowed (2)"


def test_what_does_not_say_where_it_came_from_is_parked(record_frame):
    [row] = replayed(
        record_frame({"value": "v", "headers": None}), max_retries=2, parking_topic="parked"
    ).collect()

    assert row.topic == "parked"
    assert headers_of(row) == [("dead-letter-parked", "it does not say where it came from")]


def test_letters_are_counted_by_reason(record_frame):
    rows = record_frame(letter(), letter(), letter(topic="other", retries=1))

    found = [tuple(row) for row in reasons(rows).collect()]
    assert found == [("orders", "bad", 0, 2), ("other", "bad", 1, 1)]
