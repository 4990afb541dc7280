"""Log lines in both formats, and what a hostile field can do to them: nothing."""

import io
import json
import logging

import pytest

from kbroker.telemetry.log_lines import MAX_FIELD_CHARACTERS, configure_logging, get_logger


@pytest.fixture
def lines():
    """A function that configures logging and gives the stream; undone afterwards."""
    root = logging.getLogger("kbroker")
    before = root.handlers[:], root.level, root.propagate

    def configure(log_format, level="INFO"):
        stream = io.StringIO()
        configure_logging(stream, log_format, level)
        return stream

    yield configure
    root.handlers[:], root.level, root.propagate = before[0], before[1], before[2]
    root.setLevel(before[1])


def test_a_text_line_is_time_level_part_event_and_fields(lines):
    stream = lines("text")
    get_logger("server").info("client gone", peer="h:1", reason="went away", count=3, none="")
    time, rest = stream.getvalue().split(" ", 1)
    assert time.endswith("Z")
    assert len(time) == len("2026-01-31T12:00:00.000Z")
    assert rest == 'INFO server: client gone peer=h:1 reason="went away" count=3 none=""\n'


def test_a_json_line_keeps_numbers(lines):
    stream = lines("json")
    get_logger("log").warning("slow", took_ms=12.5, ok=False, topic="a", level="mine", nothing=None)
    event = json.loads(stream.getvalue())
    assert event.pop("time")
    assert event == {
        "level": "warning",
        "logger": "log",
        "event": "slow",
        "took_ms": 12.5,
        "ok": False,
        "topic": "a",
        "level_": "mine",
        "nothing": None,
    }


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_no_field_can_begin_a_line_or_move_a_cursor(lines, log_format):
    stream = lines(log_format)
    get_logger("server").info("x", client_id="a\r\nERROR forged\x1b[2J\u2028\x00\ud800\\")
    written = stream.getvalue()
    assert written.count("\n") == 1
    assert written.rstrip("\n").isprintable()


def test_a_field_is_cut(lines):
    stream = lines("json")
    get_logger("server").info("x", client_id="y" * 10_000)
    assert len(json.loads(stream.getvalue())["client_id"]) == MAX_FIELD_CHARACTERS


def test_quotes_inside_a_quoted_field_are_escaped(lines):
    stream = lines("text")
    get_logger("server").info("x", a='b" c="d')
    assert stream.getvalue().endswith('x a="b\\" c=\\"d"\n')


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_failure_shows_where_it_happened(lines, log_format):
    stream = lines(log_format)
    try:
        raise ValueError("the reason")
    except ValueError as error:
        get_logger("server").failure("request failed", error, api="FETCH")
    assert "ValueError: the reason" in stream.getvalue()
    assert "Traceback" in stream.getvalue()


def test_levels_below_the_configured_one_are_silent(lines):
    stream = lines("text", "WARNING")
    log = get_logger("server")
    log.debug("a")
    log.info("b")
    assert not log.is_enabled_for_debug()
    log.error("c")
    assert stream.getvalue().count("\n") == 1
