"""The tables: complete, and the same as Kafka 4.3.1's.

`tools/java/DumpConfigs.java` prints what Kafka knows about its configs, and how it takes a few
hundred sample texts. Differences we chose:

- CLASS values are names of Java classes, which Kafka loads and kbroker only keeps: no samples.
- The three throttled rates are in our table of broker configs; Kafka keeps them apart, with the
  same update mode.
- A voter of controller.quorum.voters whose id is no number is refused in other words.
- NaN is refused everywhere: no config has a use for it.
- Documentation is in our own words.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.apache_kafka import run_java

from kbroker.config.broker_configs import (
    BROKER_CONFIGS,
    THROTTLE_CONFIGS,
    broker_synonyms,
    find_broker_config,
)
from kbroker.config.client_metrics_configs import CLIENT_METRICS_CONFIGS
from kbroker.config.definition import ConfigDef, UpdateMode
from kbroker.config.errors import ConfigError
from kbroker.config.group_configs import GROUP_CONFIGS
from kbroker.config.topic_configs import TOPIC_CONFIGS
from kbroker.config.values import format_value

TABLES = {
    "topic": TOPIC_CONFIGS,
    "broker": {n: d for n, d in BROKER_CONFIGS.items() if n not in THROTTLE_CONFIGS},
    "group": GROUP_CONFIGS,
    "client_metrics": CLIENT_METRICS_CONFIGS,
}
WHOLE = ["-131073", "-131072", "-3", "-2", "-1", "0", "1", "2", "4", "5", "6", "9", "10", "11"]
WHOLE += ["17", "18", "22", "23", "25", "26", "99", "100", "500", "501", "999", "1000", "1001"]
WHOLE += ["1999", "2000", "2001", "3600", "3601", "9999", "10000", "10001", "29999", "30000"]
WHOLE += ["30001", "32767", "32768", "86400", "86401", "524287", "524288", "1048575", "1048576"]
WHOLE += ["3600000", "3600001", "8388607", "8388608", "2147483647", "2147483648"]
WHOLE += ["9223372036854775807", "9223372036854775808", " 12 ", "+5", "", "seven", "1.5", "0x10"]
SAMPLES = {
    "BOOLEAN": ["true", "TRUE", " false ", "yes", "1", ""],
    "INT": WHOLE,
    "SHORT": WHOLE,
    "LONG": WHOLE,
    "DOUBLE": ["0", "0.5", "1", "-0.1", "1e3", "1.5e7", "0.51", "1f", ".5", "Infinity", "x", ""],
    "PASSWORD": ["secret", ""],
    "LIST": [
        "",
        " ",
        "a,a",
        "a,,b",
        "*",
        "0:1,1:2",
        "0:",
        "delete",
        " compact , delete ",
        "delete,delete",
        "1@host:9093",
        "1@[::1]:99,2@0.0.0.0:0",
        "host:9093",
        "host:x",
        "broker",
        "classic,share",
        "client_id=a",
    ],
    "STRING": [
        "",
        " ",
        "x",
        " producer ",
        "gzip",
        "GZIP",
        "CreateTime",
        "LogAppendTime",
        "none",
        "latest",
        "earliest",
        "none",
        "by_duration:PT1H",
        "by_duration:P1DT2.5S",
        "by_duration:-PT1H",
        "by_duration:",
        "by_duration:1h",
        "es256",
        "RS256",
        "HS256",
        "bidirectional",
        "UPGRADE",
        "read_committed",
        "required",
        "SASL_SSL",
        "plaintext",
    ],
}


@cache
def kafka() -> Mapping[str, Any]:
    """What Kafka says; one run of Java for all tests."""
    program = Path(__file__).parents[2] / "tools" / "java" / "DumpConfigs.java"
    output = run_java(program, stdin=json.dumps(SAMPLES).encode())
    dump: Mapping[str, Any] = json.loads(output)
    return dump


def verdict(definition: ConfigDef, text: str) -> dict[str, str | None]:
    """What we make of a text, in the words of the dump."""
    try:
        return {"value": format_value(definition.parse(text))}
    except ConfigError as error:
        return {"error": str(error)}


@pytest.mark.java
@pytest.mark.parametrize("kind", TABLES)
def test_the_names_types_and_defaults_are_kafkas(kind):
    ours = {
        name: (d.type.name, not d.required, format_value(d.default), d.internal)
        for name, d in TABLES[kind].items()
    }
    theirs = {
        name: (d["type"], d["has_default"], d["default"], d["internal"])
        for name, d in kafka()[kind].items()
    }

    assert ours == theirs


@pytest.mark.java
@pytest.mark.parametrize("kind", TABLES)
def test_sample_texts_are_taken_and_refused_in_kafkas_words(kind):
    compared = 0
    for name, theirs in kafka()[kind].items():
        ours = {text: verdict(TABLES[kind][name], text) for text in theirs["verdicts"]}
        assert ours == theirs["verdicts"], name
        compared += len(ours)

    assert compared > 30


@pytest.mark.java
def test_the_update_modes_are_kafkas():
    ours = {name: d.update_mode.value for name, d in BROKER_CONFIGS.items()}
    ours = {name: mode for name, mode in ours.items() if mode != UpdateMode.READ_ONLY.value}

    assert ours == kafka()["update_modes"]


@pytest.mark.java
def test_the_synonyms_are_kafkas():
    topics = {
        name: [[synonym.name, str(synonym.factor)] for synonym in d.synonyms]
        for name, d in TOPIC_CONFIGS.items()
        if d.synonyms
    }
    groups = {name: d.synonyms[0].name if d.synonyms else None for name, d in GROUP_CONFIGS.items()}

    assert topics == kafka()["topic_synonyms"]
    assert groups == kafka()["group_synonyms"]


@pytest.mark.parametrize("kind", TABLES)
def test_every_config_is_explained_in_one_sentence(kind):
    for name, definition in TABLES[kind].items():
        assert definition.documentation.endswith("."), name
        assert definition.documentation[0].isupper(), name
        assert ". " not in definition.documentation, name


def test_every_synonym_of_a_topic_or_group_config_is_a_broker_config():
    synonyms = [s for d in (*TOPIC_CONFIGS.values(), *GROUP_CONFIGS.values()) for s in d.synonyms]

    assert len(synonyms) > 40
    assert all(synonym.name in BROKER_CONFIGS for synonym in synonyms)


def test_every_default_passes_its_own_validator():
    for definition in (d for table in TABLES.values() for d in table.values()):
        if definition.default is not None:
            text = format_value(definition.default)
            assert text is not None
            assert definition.parse(text) == definition.default, definition.name


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=20) | st.from_regex(r"[-+0-9.eE,a-zA-Z:@* ]{1,12}", fullmatch=True))
def test_any_text_is_taken_or_refused_and_what_is_shown_reads_back(text):
    for definition in (d for table in TABLES.values() for d in table.values()):
        try:
            value = definition.parse(text)
        except ConfigError:
            continue
        if not definition.sensitive:
            shown = format_value(value)
            assert shown is not None
            assert definition.parse(shown) == value, definition.name


def test_a_config_of_one_listener_has_the_definition_of_all():
    location = BROKER_CONFIGS["ssl.keystore.location"]
    jaas = BROKER_CONFIGS["sasl.jaas.config"]

    assert find_broker_config("listener.name.internal.ssl.keystore.location") is location
    assert find_broker_config("listener.name.internal.plain.sasl.jaas.config") is jaas
    assert find_broker_config("listener.name.internal.nothing") is None
    assert find_broker_config("nothing") is None


def test_a_config_with_several_units_is_asked_for_in_their_order():
    retention = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")

    assert broker_synonyms("log.retention.hours") == retention
    assert broker_synonyms("num.partitions") == ("num.partitions",)
    assert broker_synonyms("listener.name.a.max.connections") == (
        "listener.name.a.max.connections",
        "max.connections",
    )
