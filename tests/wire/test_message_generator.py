"""The generator on small definitions; test_conformance.py has the real ones."""

import subprocess
import sys
from pathlib import Path

import pytest
from tools.messages.definitions import MessageDefinition, parse_message
from tools.messages.jars import MissingJarError, read_definitions
from tools.messages.module_text import module_text
from tools.messages.names import constant_name, snake_case

ROOT = Path(__file__).parents[2]


def definition(*fields: dict, name: str = "PingRequest", **more: object) -> MessageDefinition:
    node = {
        "name": name,
        "type": "response" if name.endswith("Response") else "request",
        "apiKey": 99,
        "validVersions": "1-3",
        "flexibleVersions": "2+",
        "fields": list(fields),
    }
    return parse_message(node | more)


def lines(*messages: MessageDefinition) -> list[str]:
    return [line.strip() for line in module_text("Ping", messages).splitlines()]


@pytest.mark.parametrize(
    ("kafka", "ours"),
    [
        ("TopicId", "topic_id"),
        ("groupId", "group_id"),
        ("ISRNodes", "isr_nodes"),
        ("LastKnownElr", "last_known_elr"),
        ("topic", "topic"),
        ("PreferredReadReplica2", "preferred_read_replica2"),
    ],
)
def test_names_become_words_with_underscores(kafka, ours):
    assert snake_case(kafka) == ours
    assert constant_name(kafka) == ours.upper()


def test_a_message_names_its_key_and_its_versions():
    text = lines(definition())

    assert text[0] == '"""Ping (key 99), versions 1-3, flexible from 2."""'
    assert 'class PingRequest(Request, api_key=99, versions="1-3", flexible="2+"):' in text


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ({"type": "int32"}, 'x: int = int32("0+", default=0)'),
        ({"type": "int32", "default": "0x10"}, 'x: int = int32("0+", default=16)'),
        ({"type": "bool", "default": "true"}, 'x: bool = boolean("0+", default=True)'),
        ({"type": "uuid"}, 'x: Uuid = uuid("0+", default=ZERO_UUID)'),
        ({"type": "bytes"}, 'x: bytes = data("0+", default=b"")'),
        ({"type": "[]int8"}, 'x: list[int] = int_array("int8", "0+", default=[])'),
        (
            {"type": "string", "nullableVersions": "1+", "default": "null"},
            'x: str | None = string("0+", nullable="1+", default=None)',
        ),
        (
            {"type": "string", "taggedVersions": "0+", "tag": 4, "ignorable": True},
            'x: str = string("0+", default="", tag=4, ignorable=True)',
        ),
        (
            {"type": "[]string", "nullableVersions": "0+"},
            'x: list[str] | None = string_array("0+", nullable="0+", default=[])',
        ),
    ],
)
def test_a_field_becomes_a_line(field, line):
    assert line in lines(definition({"name": "X", "versions": "0+"} | field))


INNER = {"name": "Y", "type": "int8", "versions": "0+"}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"type": "[]Pong"}, 'x: list[Pong] = array(Pong, "0+", default=[])'),
        ({"type": "Pong"}, 'x: Pong = structure(Pong, "0+", default=Pong())'),
        (
            {"type": "Pong", "tag": 0, "taggedVersions": "0+"},
            'x: Pong | None = structure(Pong, "0+", default=None, tag=0)',
        ),
        (
            {"type": "Pong", "nullableVersions": "0+", "default": "null"},
            'x: Pong | None = structure(Pong, "0+", nullable="0+", default=None)',
        ),
    ],
)
def test_a_structure_stands_before_the_field_that_holds_it(more, line):
    text = lines(definition({"name": "X", "versions": "0+", "fields": [INNER]} | more))

    assert text.index("class Pong(Structure):") < text.index(line)


def test_a_shared_structure_is_written_once():
    uses = [{"name": name, "type": "[]Pong", "versions": "0+"} for name in ("A", "B")]
    text = lines(definition(*uses, commonStructs=[{"name": "Pong", "fields": [INNER]}]))

    assert text.count("class Pong(Structure):") == 1


def test_structures_of_request_and_response_with_one_name_are_told_apart():
    field = {"name": "X", "type": "[]Pong", "versions": "0+", "fields": [INNER]}
    text = lines(definition(field), definition(field, name="PingResponse"))

    assert "class RequestPong(Structure):" in text
    assert 'x: list[ResponsePong] = array(ResponsePong, "0+", default=[])' in text
    assert "class Pong(Structure):" not in text


def test_a_field_only_with_a_tag_has_the_versions_of_its_tag():
    field = {"name": "X", "type": "int8", "taggedVersions": "2+", "tag": 0}

    assert 'x: int = int8("2+", default=0, tag=0)' in lines(definition(field))


def test_an_unstable_newest_version_is_not_among_the_stable_ones():
    assert definition().stable_versions == "1-3"
    assert definition(latestVersionUnstable=True).stable_versions == "1-2"


def test_a_field_that_would_hide_a_member_of_messages_is_refused():
    with pytest.raises(AssertionError, match="hides a member"):
        lines(definition({"name": "Versions", "type": "int8", "versions": "0+"}))


def test_a_field_that_would_hide_a_word_the_next_one_needs_is_refused():
    fields = [{"name": name, "type": "string", "versions": "0+"} for name in ("String", "B")]
    with pytest.raises(AssertionError, match="hides the word string"):
        lines(definition(*fields))


def test_without_the_jar_the_way_to_install_it_is_said(tmp_path):
    with pytest.raises(MissingJarError, match="make java"):
        read_definitions(tmp_path / "none.jar")


def test_the_generator_needs_nothing_that_it_generates():
    program = "import sys, tools.generate_messages; print('kbroker' in sys.modules)"
    command = [sys.executable, "-c", program]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert result.stdout == "False\n"
