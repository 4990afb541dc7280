"""Kafka's message definitions as typed values, without their prose."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

JsonNode: TypeAlias = "dict[str, object]"


@dataclass(frozen=True)
class FieldDefinition:
    """One field. ``type`` is Kafka's word; ``default`` is Kafka's text, None if it gives none."""

    name: str
    type: str
    versions: str
    nullable: str | None
    default: str | None
    tag: int | None
    ignorable: bool

    @property
    def is_array(self) -> bool:
        """Whether it holds many."""
        return self.type.startswith("[]")

    @property
    def element(self) -> str:
        """The type of one of many, or the type itself."""
        return self.type.removeprefix("[]")

    @property
    def is_structured(self) -> bool:
        """Whether its values are structures; their names begin with a capital."""
        return self.element[0].isupper()


@dataclass(frozen=True)
class StructureDefinition:
    """Fields under a name."""

    name: str
    fields: tuple[FieldDefinition, ...]


@dataclass(frozen=True)
class MessageDefinition:
    """A message and its structures, each structure behind those it holds."""

    name: str
    kind: str
    key: int | None
    versions: str
    flexible: str
    listeners: tuple[str, ...]
    latest_version_unstable: bool
    fields: tuple[FieldDefinition, ...]
    structures: tuple[StructureDefinition, ...]

    @property
    def first_version(self) -> int:
        """The oldest version."""
        return int(self.versions.partition("-")[0])

    @property
    def last_version(self) -> int:
        """The newest version, stable or not."""
        return int(self.versions.rpartition("-")[2])

    @property
    def stable_versions(self) -> str:
        """The versions without the newest if Kafka calls that unstable."""
        if not self.latest_version_unstable:
            return self.versions
        assert self.first_version < self.last_version - 1
        return f"{self.first_version}-{self.last_version - 1}"


def parse_message(node: JsonNode) -> MessageDefinition:
    """The definition that the JSON object ``node`` writes."""
    shared = {_text(each, "name"): _nodes(each, "fields") for each in _nodes(node, "commonStructs")}
    structures = {
        structure.name: structure for structure in _structures(_nodes(node, "fields"), shared)
    }
    key, listeners = node.get("apiKey"), node.get("listeners", [])
    assert key is None or isinstance(key, int)
    assert isinstance(listeners, list)
    return MessageDefinition(
        name=_text(node, "name"),
        kind=_text(node, "type"),
        key=key,
        versions=_text(node, "validVersions"),
        flexible=_text(node, "flexibleVersions"),
        listeners=tuple(listeners),
        latest_version_unstable=node.get("latestVersionUnstable") is True,
        fields=_fields(_nodes(node, "fields")),
        structures=tuple(structures.values()),
    )


def _structures(
    fields: list[JsonNode], shared: dict[str, list[JsonNode]]
) -> Iterator[StructureDefinition]:
    """The structures below ``fields``, the innermost first; a shared one at each of its uses."""
    for node in fields:
        field = _field(node)
        if field.is_structured:
            inner = _nodes(node, "fields") or shared[field.element]
            yield from _structures(inner, shared)
            yield StructureDefinition(field.element, _fields(inner))


def _fields(nodes: list[JsonNode]) -> tuple[FieldDefinition, ...]:
    return tuple(map(_field, nodes))


def _field(node: JsonNode) -> FieldDefinition:
    # A field that only exists with a tag may leave its versions out.
    versions = node.get("versions") or node["taggedVersions"]
    assert isinstance(versions, str)
    assert node.get("taggedVersions", versions) == versions, "no field changes into a tagged one"
    nullable, tag, default = node.get("nullableVersions"), node.get("tag"), node.get("default")
    assert nullable is None or isinstance(nullable, str)
    assert tag is None or isinstance(tag, int)
    return FieldDefinition(
        name=_text(node, "name"),
        type=_text(node, "type"),
        versions=versions,
        nullable=nullable,
        default=None if default is None else str(default),
        tag=tag,
        ignorable=node.get("ignorable") in (True, "true"),
    )


def _text(node: JsonNode, key: str) -> str:
    value = node[key]
    assert isinstance(value, str)
    return value


def _nodes(node: JsonNode, key: str) -> list[JsonNode]:
    value = node.get(key, [])
    assert isinstance(value, list)
    return value
