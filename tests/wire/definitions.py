"""Kafka's message definitions, read a second time.

The generator has a reader of its own. This one shares nothing with it, so that a mistake in one
of them shows as a difference: `definition_facts` says what a definition asks for, `class_facts`
what one of our classes offers, both as one line per field in the order of the wire.
"""

import json
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from kbroker.wire.message import Message, Request, Response, Stored, StoredRecord

JARS = Path(__file__).parents[2] / ".cache" / "jars"
CLIENTS_JAR = JARS / "definitions-4.4.0" / "kafka-clients-4.4.0.jar"
COORDINATOR_JARS = [
    JARS / "kafka-4.3.1" / f"kafka-{name}-coordinator-4.3.1.jar"
    for name in ("group", "transaction", "share")
]

TYPES = {"bool": "boolean", "bytes": "data"}
ZEROS = {"string": "", "bytes": b"", "bool": False, "uuid": bytes(16)}
ZEROS |= {"records": None, "float64": 0.0}
BASES = {
    "request": Request,
    "response": Response,
    "header": Stored,
    "data": Stored,
    "coordinator-key": StoredRecord,
    "coordinator-value": StoredRecord,
}


@dataclass(frozen=True)
class FieldFacts:
    """One field: its place in the message, and all that decides about its bytes."""

    place: str
    type: str
    versions: tuple[int, int]
    nullable: tuple[int, int]
    default: object
    tag: int | None
    ignorable: bool


@dataclass(frozen=True)
class MessageFacts:
    """One message: what stands in the head of its class, and its fields."""

    name: str
    base: type[Message]
    key: int | None
    versions: tuple[int, int]
    flexible: tuple[int, int]
    fields: tuple[FieldFacts, ...]


def read_jar(jar: Path) -> dict[str, dict]:
    """The definitions in ``jar``, by name. The test fails if the jar is not there."""
    if not jar.exists():
        pytest.fail(f"{jar.name} is not installed: run `make java`")
    found = {}
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith("common/message/") and name.endswith(".json"):
                lines = archive.read(name).decode().splitlines()
                code = [line for line in lines if not line.lstrip().startswith("//")]
                node = json.loads("\n".join(code))
                found[node["name"]] = node
    return found


def version_range(text: str | None) -> tuple[int, int]:
    if text is None or text == "none":
        return (0, -1)
    if text.endswith("+"):
        return (int(text[:-1]), 32767)
    bounds = text.split("-")
    return (int(bounds[0]), int(bounds[-1]))


def spelling(name: str) -> str:
    """A name as Kafka and we write it alike: TopicId and topic_id."""
    return name.replace("_", "").lower()


def definition_facts(node: dict) -> MessageFacts:
    """What the definition ``node`` asks for."""
    shared = {each["name"]: each["fields"] for each in node.get("commonStructs", [])}
    return MessageFacts(
        name=node["name"],
        base=BASES[node["type"]],
        key=node.get("apiKey"),
        versions=version_range(node["validVersions"]),
        flexible=version_range(node["flexibleVersions"]),
        fields=tuple(_defined_fields(node["fields"], shared, "")),
    )


def _defined_fields(nodes, shared, place):
    for node in nodes:
        kafka_type = node["type"]
        many = "[]" if kafka_type.startswith("[]") else ""
        element = kafka_type.removeprefix("[]")
        structured = element[0].isupper()
        here = f"{place}.{spelling(node['name'])}{many}"
        yield FieldFacts(
            place=here,
            type=many + ("structure" if structured else TYPES.get(element, element)),
            versions=version_range(node.get("versions", node.get("taggedVersions"))),
            nullable=version_range(node.get("nullableVersions")),
            default=_defined_default(node, many, element, structured),
            tag=node.get("tag"),
            ignorable=str(node.get("ignorable", False)).lower() == "true",
        )
        if structured:
            inner = node["fields"] if "fields" in node else shared[element]
            yield from _defined_fields(inner, shared, f"{here}({element})")


def _defined_default(node, many, element, structured):
    said = node.get("default")
    if said == "null":
        return None
    if many:
        return []
    if structured:
        # Kafka makes an empty object of a tagged structure that is absent; we make it None.
        return None if "tag" in node or "nullableVersions" in node else element
    if said in (None, ""):
        return ZEROS.get(element, 0)
    if element == "bool":
        return str(said).lower() == "true"
    return int(said, 16) if str(said).startswith("0x") else int(said)


def class_facts(cls: type[Message]) -> MessageFacts:
    """What our class ``cls`` offers."""
    key = getattr(cls, "record_type" if issubclass(cls, StoredRecord) else "api_key", None)
    return MessageFacts(
        name=cls.__name__,
        base=cls.__base__,
        key=key,
        versions=(cls.versions.first, cls.versions.last),
        flexible=(cls.flexible_versions.first, cls.flexible_versions.last),
        fields=tuple(_class_fields(cls, "")),
    )


def _class_fields(cls, place):
    fresh = cls()
    for field in cls.fields:
        many = "[]" if field.type == "array" else ""
        structured = isinstance(field.element, type)
        here = f"{place}.{spelling(field.name)}{many}"
        value = getattr(fresh, field.name)
        one = "structure" if structured else field.element if many else field.type
        yield FieldFacts(
            place=here,
            type=f"{many}{one}",
            versions=(field.versions.first, field.versions.last),
            nullable=(field.nullable.first, field.nullable.last),
            default=kafka_name(type(value)) if isinstance(value, Message) else value,
            tag=field.tag,
            ignorable=field.ignorable,
        )
        if structured:
            yield from _class_fields(field.element, f"{here}({kafka_name(field.element)})")


def kafka_name(cls: type[Message]) -> str:
    """The name of a structure without what tells it from its namesake in the same module."""
    for prefix in ("Request", "Response", "Subscription", "Assignment"):
        if cls.__name__.startswith(prefix) and cls.__name__ != prefix:
            return cls.__name__.removeprefix(prefix)
    return cls.__name__


def differences(wanted: MessageFacts, offered: MessageFacts) -> list[str]:
    """What differs, one sentence each; an empty list if nothing does."""
    found = [
        f"{wanted.name} {each.name}: {getattr(wanted, each.name)} in the definition, "
        f"{getattr(offered, each.name)} in the class"
        for each in fields(MessageFacts)
        if each.name != "fields" and getattr(wanted, each.name) != getattr(offered, each.name)
    ]
    ours = {field.place: field for field in offered.fields}
    theirs = {field.place: field for field in wanted.fields}
    found += [f"{wanted.name}{place} is missing" for place in theirs if place not in ours]
    found += [f"{wanted.name}{place} is not defined" for place in ours if place not in theirs]
    found += [
        f"{wanted.name}: {theirs[place]} in the definition, {field} in the class"
        for place, field in ours.items()
        # Equality alone would take False for 0.
        if place in theirs and repr(theirs[place]) != repr(field)
    ]
    if not found and list(ours) != list(theirs):
        found.append(f"{wanted.name}: the fields stand in another order")
    return found
