"""The headers of dead letters, on static frames."""

from pyspark.sql import functions as F

from spark_jobs.dead_letters import dead_letters, header_text, retries


def headers_of(row):
    return {header.key: bytes(header.value).decode() for header in row.headers}


def test_a_dead_letter_says_why_and_where_from(record_frame):
    rows = record_frame({"key": "k", "value": "v", "partition": 3, "offset": 41})

    [letter] = dead_letters(rows, F.lit("too old"), "dead").collect()

    assert (letter.topic, bytes(letter.key), bytes(letter.value)) == ("dead", b"k", b"v")
    assert headers_of(letter) == {
        "dead-letter-reason": "too old",
        "dead-letter-topic": "events",
        "dead-letter-partition": "3",
        "dead-letter-offset": "41",
        "dead-letter-retries": "0",
    }


def test_own_headers_and_the_counter_stay_and_an_old_reason_goes(record_frame):
    headers = [("trace", "7"), ("dead-letter-retries", "2"), ("dead-letter-reason", "old")]
    rows = record_frame({"headers": headers})

    [letter] = dead_letters(rows, F.lit("new"), "dead").collect()

    assert [header.key for header in letter.headers].count("dead-letter-reason") == 1
    found = headers_of(letter)
    assert (found["trace"], found["dead-letter-retries"]) == ("7", "2")
    assert found["dead-letter-reason"] == "new"


def test_a_counter_that_makes_no_sense_is_none(record_frame):
    rows = record_frame(
        {"headers": [("dead-letter-retries", "many")]},
        {"headers": [("dead-letter-retries", "-4")]},
        {"headers": [("dead-letter-retries", b"\xff")]},
        {},
    )

    assert [row.n for row in rows.select(retries().alias("n")).collect()] == [0, 0, 0, 0]


def test_the_last_of_several_headers_counts(record_frame):
    rows = record_frame({"headers": [("id", "1"), ("id", "2")]}, {"headers": [("id", None)]}, {})

    found = [row.id for row in rows.select(header_text("id").alias("id")).collect()]
    assert found == ["2", None, None]
