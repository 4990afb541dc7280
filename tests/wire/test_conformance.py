"""Every message is, field by field, what Kafka's definitions say."""

import copy
import importlib
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kbroker.wire.messages
from kbroker.wire.apis import API_SPECS
from kbroker.wire.message import Message, Structure
from tests.wire.definitions import (
    CLIENTS_JAR,
    COORDINATOR_JARS,
    class_facts,
    definition_facts,
    differences,
    read_jar,
)

pytestmark = pytest.mark.java

ROOT = Path(__file__).parents[2]

# Requests between controllers, and of brokers to their controller: our quorum is not Kafka's.
NOT_FOR_CLIENTS = {4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82}
# What Kafka keeps in its own metadata log, its snapshots, its index files and its principals.
# Control records are the business of `kbroker.records`.
NOT_ON_THE_WIRE = {
    "AbortedTxn",
    "ControlRecordTypeSchema",
    "DefaultPrincipalData",
    "EndTxnMarker",
    "KRaftVersionRecord",
    "LeaderChangeMessage",
    "SnapshotFooterRecord",
    "SnapshotHeaderRecord",
    "VotersRecord",
}


@pytest.fixture(scope="module")
def definitions() -> dict[str, dict]:
    found: dict[str, dict] = {}
    for jar in (CLIENTS_JAR, *COORDINATOR_JARS):
        in_jar = read_jar(jar)
        assert not found.keys() & in_jar.keys()
        found |= in_jar
    return found


@pytest.fixture(scope="module")
def wanted(definitions) -> dict[str, dict]:
    return {
        name: node
        for name, node in definitions.items()
        if name not in NOT_ON_THE_WIRE
        and not (node["type"] in ("request", "response") and node["apiKey"] in NOT_FOR_CLIENTS)
    }


def all_classes() -> list[type[Message]]:
    found = []
    for module in pkgutil.iter_modules(kbroker.wire.messages.__path__):
        loaded = importlib.import_module(f"kbroker.wire.messages.{module.name}")
        for value in vars(loaded).values():
            if isinstance(value, type) and value.__module__ == loaded.__name__:
                assert issubclass(value, Message)
                found.append(value)
    return found


def message_classes() -> dict[str, type[Message]]:
    found = [cls for cls in all_classes() if not issubclass(cls, Structure)]
    by_name = {cls.__name__: cls for cls in found}
    assert len(by_name) == len(found), "two messages have one name"
    return by_name


def test_every_definition_has_a_class_and_every_class_a_definition(wanted):
    assert message_classes().keys() == wanted.keys()


def test_every_field_of_every_message_is_as_defined(wanted):
    classes = message_classes()
    found = [
        difference
        for name, node in wanted.items()
        for difference in differences(definition_facts(node), class_facts(classes[name]))
    ]

    assert found == []


def test_every_structure_belongs_to_a_message():
    reached: set[type[Message]] = set()

    def reach(cls):
        reached.add(cls)
        for field in cls.fields:
            if isinstance(field.element, type):
                reach(field.element)

    for message in message_classes().values():
        reach(message)

    assert set(all_classes()) == reached


def test_the_table_is_what_the_definitions_give_the_broker_listener(definitions):
    on_the_listener = {
        node["apiKey"]: (node["name"], node["validVersions"], node["flexibleVersions"])
        for node in definitions.values()
        if "broker" in node.get("listeners", [])
    }
    table = {
        spec.key: (f"{spec.name}Request", str(spec.versions), str(spec.flexible))
        for spec in API_SPECS.values()
    }

    assert len(table) == 79
    assert table == on_the_listener


def test_only_those_versions_are_unstable_that_kafka_calls_so(definitions):
    unstable = {
        node["apiKey"]
        for node in definitions.values()
        if node.get("latestVersionUnstable") and "broker" in node.get("listeners", [])
    }
    ours = {int(spec.key) for spec in API_SPECS.values() if spec.stable_versions != spec.versions}

    assert ours == unstable
    assert all(
        (API_SPECS[key].stable_versions.last, API_SPECS[key].stable_versions.first)
        == (API_SPECS[key].versions.last - 1, API_SPECS[key].versions.first)
        for key in ours
    )


def test_the_client_id_alone_keeps_its_old_form_in_flexible_versions(definitions):
    """The codecs know this exception by name; another one would need a word in the notation."""
    exceptions = []

    def look(owner, nodes):
        for node in nodes:
            if "flexibleVersions" in node:
                exceptions.append((owner, node["name"], node["flexibleVersions"]))
            look(owner, node.get("fields", []))

    for name, node in definitions.items():
        look(name, node.get("fields", []))
        for shared in node.get("commonStructs", []):
            look(name, shared["fields"])

    assert exceptions == [("RequestHeader", "ClientId", "none")]


def field(node: dict, *path: str) -> dict:
    for name in path:
        node = next(each for each in node["fields"] if each["name"] == name)
    return node


def swap_first_two(node: dict) -> None:
    node["fields"][0], node["fields"][1] = node["fields"][1], node["fields"][0]


PARTITION = ("Topics", "Partitions")
SEEDED = {
    "versions of the message": lambda node: node.update(validVersions="4-17"),
    "flexible versions": lambda node: node.update(flexibleVersions="11+"),
    "the key": lambda node: node.update(apiKey=2),
    "the kind": lambda node: node.update(type="response"),
    "a field more": lambda node: node["fields"].append(
        {"name": "Extra", "type": "int8", "versions": "0+"}
    ),
    "a field less": lambda node: node["fields"].pop(),
    "a name": lambda node: field(node, "MinBytes").update(name="FewestBytes"),
    "a type": lambda node: field(node, "MinBytes").update(type="int64"),
    "first version of a field": lambda node: field(node, "RackId").update(versions="10+"),
    "last version of a field": lambda node: field(node, "ReplicaId").update(versions="0-13"),
    "nullability": lambda node: field(node, "RackId").update(nullableVersions="11+"),
    "a number as default": lambda node: field(node, "SessionEpoch").update(default="0"),
    "null as default": lambda node: field(node, "ClusterId").update(default=""),
    "a tag": lambda node: field(node, "ClusterId").update(tag=7),
    "no tag": lambda node: field(node, "ClusterId").pop("tag"),
    "whether ignorable": lambda node: field(node, "RackId").update(ignorable=False),
    "order": swap_first_two,
    "one instead of many": lambda node: field(node, "Topics").update(type="FetchTopic"),
    "name of a structure": lambda node: field(node, "Topics").update(type="[]Topic"),
    "a field in a structure": lambda node: field(node, *PARTITION, "FetchOffset").update(
        type="int32"
    ),
    "a default in a structure": lambda node: field(node, *PARTITION, "CurrentLeaderEpoch").update(
        default="-2"
    ),
    "an element type": lambda node: field(node, "ForgottenTopicsData", "Partitions").update(
        type="[]int64"
    ),
}


@pytest.mark.parametrize("change", SEEDED)
def test_a_seeded_difference_is_found(definitions, change):
    cls = message_classes()["FetchRequest"]
    node = copy.deepcopy(definitions["FetchRequest"])
    assert differences(definition_facts(node), class_facts(cls)) == []

    SEEDED[change](node)

    assert differences(definition_facts(node), class_facts(cls))


def run_generator(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.generate_messages", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_generated_files_are_fresh():
    result = run_generator("--check")

    assert (result.returncode, result.stdout) == (0, "")


def test_stale_files_are_named_and_made_fresh(tmp_path):
    wire = ROOT / "src" / "kbroker" / "wire"
    shutil.copytree(wire / "messages", tmp_path / "messages")
    shutil.copy(wire / "api_keys.py", tmp_path)
    changed = tmp_path / "messages" / "produce.py"
    changed.write_text(changed.read_text().replace('"3-13"', '"3-12"'))
    (tmp_path / "messages" / "fetch.py").unlink()
    (tmp_path / "messages" / "left_over.py").touch()

    check = run_generator("--check", "--into", str(tmp_path))

    assert check.returncode == 1
    assert check.stdout.splitlines() == [
        "stale: api_table.py",
        "stale: messages/fetch.py",
        "stale: messages/left_over.py",
        "stale: messages/produce.py",
    ]
    assert run_generator("--into", str(tmp_path)).returncode == 0
    assert run_generator("--check", "--into", str(tmp_path)).returncode == 0
    assert not (tmp_path / "messages" / "left_over.py").exists()
