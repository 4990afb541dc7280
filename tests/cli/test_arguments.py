from argparse import ArgumentTypeError

import pytest

from kbroker.cli import arguments
from kbroker.client.consuming import Start
from kbroker.records import Compression


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("beginning", Start.earliest()),
        ("end", Start.latest()),
        ("0", Start.at_offset(0)),
        ("12345", Start.at_offset(12345)),
        ("@1700000000123", Start.at_timestamp(1_700_000_000_123)),
        ("2023-11-14T22:13:20Z", Start.at_timestamp(1_700_000_000_000)),
        ("2023-11-14T22:13:20.123Z", Start.at_timestamp(1_700_000_000_123)),
        ("2023-11-15T00:13:20+02:00", Start.at_timestamp(1_700_000_000_000)),
        # Without a zone it is UTC, as timestamps are shown.
        ("2023-11-14T22:13:20", Start.at_timestamp(1_700_000_000_000)),
        ("2023-11-14", Start.at_timestamp(1_699_920_000_000)),
    ],
)
def test_a_start_is_a_word_an_offset_or_a_time(text, expected):
    assert arguments.start(text) == expected


@pytest.mark.parametrize(
    "text", ["", "-1", "@", "@-5", "@1.5", "yesterday", "2023-13-01", "1960-01-01", "9" * 20, "٣"]
)
def test_what_is_no_start_is_refused(text):
    with pytest.raises(ArgumentTypeError):
        arguments.start(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("a=b", ("a", "b")), ("a=b=c", ("a", "b=c")), ("a=", ("a", ""))]
)
def test_a_setting_is_split_at_the_first_equals_sign(text, expected):
    assert arguments.setting(text) == expected


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (arguments.setting, "a"),
        (arguments.setting, "=b"),
        (arguments.positive, "0"),
        (arguments.positive, "-3"),
        (arguments.positive, "two"),
        (arguments.positive, "2147483648"),
        (arguments.partition, "-1"),
        (arguments.partition, "x"),
        (arguments.offset, "-1"),
        (arguments.offset, ""),
        (arguments.offset, "9" * 20),
        (arguments.moment, "5"),
        (arguments.moment, "beginning"),
        (arguments.moment, "1960-01-01"),
        (arguments.separator, ""),
        (arguments.compression, "rar"),
        (arguments.bootstrap, "host:port"),
    ],
)
def test_values_that_make_no_sense_are_refused(read, text):
    with pytest.raises(ArgumentTypeError):
        read(text)


def test_a_moment_is_a_time_and_an_offset_is_a_number():
    assert arguments.moment("2023-11-14T22:13:20Z") == Start.at_timestamp(1_700_000_000_000)
    assert arguments.moment("@5") == Start.at_timestamp(5)
    assert arguments.offset("5") == Start.at_offset(5)


def test_a_separator_may_be_a_tab():
    assert arguments.separator("\\t") == "\t"
    assert arguments.separator("::") == "::"


def test_a_compression_type_has_kafkas_name():
    assert arguments.compression("zstd") is Compression.ZSTD
    assert arguments.compression("none") is Compression.NONE
