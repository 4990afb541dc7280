import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.apache_kafka import run_java

from kbroker.config import ConfigError, parse_properties


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("", {}),
        ("a=1", {"a": "1"}),
        ("a = 1 \n", {"a": "1 "}),
        ("a:1\nb 2\nc\t:\t3", {"a": "1", "b": "2", "c": "3"}),
        ("# comment\n  ! another\n\n a=1", {"a": "1"}),
        ("a=1\na=2", {"a": "2"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("=1", {"": "1"}),
        ("a==1", {"a": "=1"}),
        ("a=1=2:3", {"a": "1=2:3"}),
        ("a=1,\\\n    2,\\\r\n\t3", {"a": "1,2,3"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=1\\\n#2", {"a": "1#2"}),
        ("a=1\\", {"a": "1"}),
        ("a\\=b\\ c\\:d=1", {"a=b c:d": "1"}),
        (r"a=\t\n\r\f\u00e4\z", {"a": "\t\n\r\fäz"}),
        (r"a=\uD83D\uDE00", {"a": "\N{GRINNING FACE}"}),
        ("a=1 # no comment", {"a": "1 # no comment"}),
        ("a=1\rb=2\r\nc=3", {"a": "1", "b": "2", "c": "3"}),
    ],
)
def test_properties_are_read_as_java_reads_them(text, properties):
    assert parse_properties(text) == properties


def test_a_broken_escape_is_refused():
    with pytest.raises(ConfigError, match="Malformed"):
        parse_properties(r"a=\u12x4")


@pytest.mark.java
def test_random_texts_are_read_as_java_reads_them():
    dice = random.Random(42)
    pieces = ["a", "b", " ", "\\", "=", ":", "#", "!", "\n", "\r", "\t", "\f", "\\u00e4", "u", "n"]
    texts = ["".join(dice.choices(pieces, k=dice.randrange(25))) for _ in range(5000)]
    program = Path(__file__).parents[2] / "tools" / "java" / "LoadProperties.java"

    loaded = json.loads(run_java(program, stdin=json.dumps(texts).encode()))

    assert loaded.count(None) > 100
    for text, theirs in zip(texts, loaded, strict=True):
        assert _parsed_or_none(text) == theirs, repr(text)


def _parsed_or_none(text: str) -> dict[str, str] | None:
    try:
        return parse_properties(text)
    except ConfigError:
        return None


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4))
def test_what_is_escaped_reads_back(properties):
    def escaped(text: str) -> str:
        units = text.encode("utf-16-be", "surrogatepass")
        pairs = (units[i : i + 2].hex() for i in range(0, len(units), 2))
        return "".join(f"\\u{pair}" for pair in pairs)

    text = "".join(f"{escaped(key)}={escaped(value)}\n" for key, value in properties.items())

    assert parse_properties(text) == properties
