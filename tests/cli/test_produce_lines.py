import os
from itertools import islice

import pytest

from kbroker.cli.errors import CommandError
from kbroker.cli.produce import read_lines, split_line


def lines_of(data: bytes, tmp_path) -> list[bytes]:
    path = tmp_path / "input"
    path.write_bytes(data)
    with path.open("rb") as file:
        return [line for line in read_lines(file.fileno()) if line is not None]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\n\r\nb\rc", [b"a", b"", b"b\rc"]),
        (b"\n", [b""]),
        (b"\xff\x00\n", [b"\xff\x00"]),
        (b"x" * 200_000 + b"\ny", [b"x" * 200_000, b"y"]),
    ],
)
def test_lines_end_with_a_newline_or_with_the_input(data, expected, tmp_path):
    assert lines_of(data, tmp_path) == expected


def test_a_pause_of_the_input_is_told():
    reader, writer = os.pipe()
    try:
        lines = read_lines(reader)
        os.write(writer, b"one\ntwo\nhal")
        assert list(islice(lines, 3)) == [b"one", b"two", None]
        os.write(writer, b"f\n")
        assert list(islice(lines, 2)) == [b"half", None]
        os.close(writer)
        assert list(lines) == []
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("line", "separator", "null", "expected"),
    [
        (b"a:b", None, None, (None, b"a:b")),
        (b"a:b", ":", None, (b"a", b"b")),
        (b"a::b:c", "::", None, (b"a", b"b:c")),
        (b":b", ":", None, (b"", b"b")),
        (b"a:", ":", None, (b"a", b"")),
        (b"a:NULL", ":", "NULL", (b"a", None)),
        (b"NULL:NULL", ":", "NULL", (None, None)),
        (b"NULL", None, "NULL", (None, None)),
        (b"a:NULLs", ":", "NULL", (b"a", b"NULLs")),
        (b"a:", ":", "", (b"a", None)),
    ],
)
def test_a_line_is_split_into_key_and_value(line, separator, null, expected):
    assert split_line(line, separator, null, 1) == expected


def test_a_line_without_its_separator_is_refused_by_number():
    with pytest.raises(CommandError, match="line 7 has no separator ':'"):
        split_line(b"abc", ":", None, 7)
