import json

import pytest

from kbroker.cli.lines import TextForm, json_line, timestamp_text
from kbroker.client.consuming import Consumed
from kbroker.records import Record

RECORD = Consumed(2, Record(7, 1_700_000_000_123, b"k", b"v", (("h", b"1"), ("n", None))))
NULLS = Consumed(0, Record(0, 0, None, None))


def test_a_line_is_the_value_alone_unless_more_is_asked_for():
    assert TextForm().line(RECORD) == b"v"
    assert TextForm(keys=True).line(RECORD) == b"k\tv"
    assert TextForm(keys=True, headers=True, timestamps=True).line(RECORD) == (
        b"2023-11-14T22:13:20.123Z\th=1,n=null\tk\tv"
    )


def test_a_null_is_shown_as_a_word():
    assert TextForm(keys=True).line(NULLS) == b"null\tnull"


def test_bytes_that_are_no_text_pass_through():
    assert TextForm().line(Consumed(0, Record(0, 0, None, b"\xff\x00"))) == b"\xff\x00"


def test_json_has_every_field():
    assert json.loads(json_line("t", RECORD)) == {
        "topic": "t",
        "partition": 2,
        "offset": 7,
        "timestamp_ms": 1_700_000_000_123,
        "timestamp": "2023-11-14T22:13:20.123Z",
        "headers": [["h", "1"], ["n", None]],
        "key": "k",
        "value": "v",
    }


def test_json_keeps_nulls_apart_from_words_and_bytes_apart_from_text():
    record = Record(0, 0, None, b"\xff", (("n\udcff", b"\xfe"),))
    fields = json.loads(json_line("t", Consumed(0, record)))

    assert fields["key"] is None
    assert fields["value"] == {"base64": "/w=="}
    assert fields["headers"] == [[{"base64": "bv8="}, {"base64": "/g=="}]]


def test_json_is_one_line_whatever_the_value():
    line = json_line("t", Consumed(0, Record(0, 0, b"a\nb", "ü\n".encode())))

    assert b"\n" not in line
    assert "ü".encode() in line


@pytest.mark.parametrize(
    ("timestamp_ms", "expected"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (2**62, f"@{2**62}"),
        (-(2**62), f"@-{2**62}"),
    ],
)
def test_every_timestamp_can_be_shown(timestamp_ms, expected):
    assert timestamp_text(timestamp_ms) == expected
