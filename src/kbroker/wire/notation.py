"""The words the message modules are written in.

A message reads like a page of the protocol reference, one line a field: its name, its type, the
versions that have it, the versions in which it may be null, its default, its tag.

    class FetchTopic(Structure):
        topic: str = string("0-12", default="", ignorable=True)
        topic_id: Uuid = uuid("13+", default=ZERO_UUID, ignorable=True)
        partitions: list[FetchPartition] = array(FetchPartition, "0+", default=[])

Each word makes a `Field`; its declared result is the type of the attribute, which is what makes a
handler's use of a message checkable. `kbroker.wire.message` turns the fields into slots.

Three differences from Kafka's own classes, all for the sake of the reader:
- a tagged structure that is absent is None, not an object full of defaults;
- a uuid is its sixteen bytes; a ``bytes`` field is called `data`, a ``bool`` field `boolean`;
- `records` may be a piece of a file when a message is encoded.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, cast, overload

from kbroker.model import FileSlice, Uuid
from kbroker.wire.versions import NEVER, VersionRange, parse_versions

if TYPE_CHECKING:
    from kbroker.wire.message import Message

Buffer: TypeAlias = bytes | bytearray | memoryview
# What an encoder yields: bytes to send, or a piece of a file to send.
Part: TypeAlias = bytes | bytearray | memoryview | FileSlice
Default: TypeAlias = int | float | str | bytes | list[object] | None

FieldType: TypeAlias = Literal[
    "int8", "int16", "uint16", "int32", "int64", "float64", "boolean", "uuid",
    "string", "data", "records", "structure", "array",
]  # fmt: skip
Element = TypeVar("Element", bound="Message")


class Field:
    """One line of the reference. ``element`` says what an array or a structure is made of."""

    __slots__ = ("default", "element", "ignorable", "name", "nullable", "tag", "type", "versions")

    def __init__(
        self,
        field_type: FieldType,
        versions: str,
        nullable: str | None,
        default: Default,
        tag: int | None,
        ignorable: bool,
        element: "type[Message] | FieldType | None" = None,
    ) -> None:
        self.name = ""  # The class that holds the field tells it its name.
        self.type = field_type
        self.versions: VersionRange = parse_versions(versions)
        self.nullable: VersionRange = NEVER if nullable is None else parse_versions(nullable)
        self.default = default
        self.tag = tag
        self.ignorable = ignorable
        self.element = element


def int8(
    versions: str, *, default: int = 0, tag: int | None = None, ignorable: bool = False
) -> int:
    """A signed integer of 8 bits."""
    return cast(int, Field("int8", versions, None, default, tag, ignorable))


def int16(
    versions: str, *, default: int = 0, tag: int | None = None, ignorable: bool = False
) -> int:
    """A signed integer of 16 bits."""
    return cast(int, Field("int16", versions, None, default, tag, ignorable))


def uint16(
    versions: str, *, default: int = 0, tag: int | None = None, ignorable: bool = False
) -> int:
    """An unsigned integer of 16 bits."""
    return cast(int, Field("uint16", versions, None, default, tag, ignorable))


def int32(
    versions: str, *, default: int = 0, tag: int | None = None, ignorable: bool = False
) -> int:
    """A signed integer of 32 bits."""
    return cast(int, Field("int32", versions, None, default, tag, ignorable))


def int64(
    versions: str, *, default: int = 0, tag: int | None = None, ignorable: bool = False
) -> int:
    """A signed integer of 64 bits."""
    return cast(int, Field("int64", versions, None, default, tag, ignorable))


def float64(
    versions: str, *, default: float = 0.0, tag: int | None = None, ignorable: bool = False
) -> float:
    """A floating-point number of 64 bits."""
    return cast(float, Field("float64", versions, None, default, tag, ignorable))


def boolean(
    versions: str, *, default: bool = False, tag: int | None = None, ignorable: bool = False
) -> bool:
    """One byte, zero or one."""
    return cast(bool, Field("boolean", versions, None, default, tag, ignorable))


def uuid(versions: str, *, default: Uuid, tag: int | None = None, ignorable: bool = False) -> Uuid:
    """Sixteen bytes that name a topic or a directory."""
    return cast(Uuid, Field("uuid", versions, None, default, tag, ignorable))


@overload
def string(
    versions: str, *, default: str = "", tag: int | None = None, ignorable: bool = False
) -> str: ...
@overload
def string(
    versions: str,
    *,
    nullable: str,
    default: str | None = "",
    tag: int | None = None,
    ignorable: bool = False,
) -> str | None: ...
def string(
    versions: str,
    *,
    nullable: str | None = None,
    default: str | None = "",
    tag: int | None = None,
    ignorable: bool = False,
) -> str | None:
    """Text in UTF-8, 32,767 bytes at the most."""
    return cast(str, Field("string", versions, nullable, default, tag, ignorable))


@overload
def data(
    versions: str, *, default: bytes = b"", tag: int | None = None, ignorable: bool = False
) -> bytes: ...
@overload
def data(
    versions: str,
    *,
    nullable: str,
    default: bytes | None = b"",
    tag: int | None = None,
    ignorable: bool = False,
) -> bytes | None: ...
def data(
    versions: str,
    *,
    nullable: str | None = None,
    default: bytes | None = b"",
    tag: int | None = None,
    ignorable: bool = False,
) -> bytes | None:
    """Bytes whose meaning is not the protocol's affair."""
    return cast(bytes, Field("data", versions, nullable, default, tag, ignorable))


def records(
    versions: str, *, nullable: str, default: None = None, ignorable: bool = False
) -> Part | None:
    """Record batches: a view on the request when decoded, bytes or a file slice to encode."""
    return cast(Part, Field("records", versions, nullable, default, None, ignorable))


@overload
def structure(
    element: type[Element],
    versions: str,
    *,
    nullable: str,
    default: None = None,
    tag: int | None = None,
    ignorable: bool = False,
) -> Element | None: ...
@overload
def structure(
    element: type[Element],
    versions: str,
    *,
    tag: int,
    default: None = None,
    ignorable: bool = False,
) -> Element | None: ...
@overload
def structure(
    element: type[Element], versions: str, *, default: Element, ignorable: bool = False
) -> Element: ...
def structure(
    element: type[Element],
    versions: str,
    *,
    nullable: str | None = None,
    default: Element | None = None,
    tag: int | None = None,
    ignorable: bool = False,
) -> Element | None:
    """Fields inside a field. Without null and tag it is always there, made anew by default."""
    absent = nullable is not None or tag is not None
    assert absent == (default is None)
    return cast(Element, Field("structure", versions, nullable, None, tag, ignorable, element))


@overload
def array(
    element: type[Element],
    versions: str,
    *,
    default: list[Element],
    tag: int | None = None,
    ignorable: bool = False,
) -> list[Element]: ...
@overload
def array(
    element: type[Element],
    versions: str,
    *,
    nullable: str,
    default: list[Element] | None,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[Element] | None: ...
def array(
    element: type[Element],
    versions: str,
    *,
    nullable: str | None = None,
    default: list[Element] | None,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[Element] | None:
    """Structures one after another, their count before them."""
    field = Field("array", versions, nullable, cast(Default, default), tag, ignorable, element)
    return cast(list[Element], field)


@overload
def int_array(
    element: Literal["int8", "int16", "int32", "int64"],
    versions: str,
    *,
    default: list[int],
    tag: int | None = None,
    ignorable: bool = False,
) -> list[int]: ...
@overload
def int_array(
    element: Literal["int8", "int16", "int32", "int64"],
    versions: str,
    *,
    nullable: str,
    default: list[int] | None,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[int] | None: ...
def int_array(
    element: Literal["int8", "int16", "int32", "int64"],
    versions: str,
    *,
    nullable: str | None = None,
    default: list[int] | None,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[int] | None:
    """Integers of one size, their count before them."""
    field = Field("array", versions, nullable, cast(Default, default), tag, ignorable, element)
    return cast(list[int], field)


@overload
def string_array(
    versions: str, *, default: list[str], tag: int | None = None, ignorable: bool = False
) -> list[str]: ...
@overload
def string_array(
    versions: str,
    *,
    nullable: str,
    default: list[str] | None,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[str] | None: ...
def string_array(
    versions: str,
    *,
    nullable: str | None = None,
    default: list[str] | None,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[str] | None:
    """Texts, their count before them; none of them is null."""
    field = Field("array", versions, nullable, cast(Default, default), tag, ignorable, "string")
    return cast(list[str], field)


@overload
def uuid_array(
    versions: str, *, default: list[Uuid], tag: int | None = None, ignorable: bool = False
) -> list[Uuid]: ...
@overload
def uuid_array(
    versions: str,
    *,
    nullable: str,
    default: list[Uuid] | None,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[Uuid] | None: ...
def uuid_array(
    versions: str,
    *,
    nullable: str | None = None,
    default: list[Uuid] | None,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[Uuid] | None:
    """Uuids, their count before them."""
    field = Field("array", versions, nullable, cast(Default, default), tag, ignorable, "uuid")
    return cast(list[Uuid], field)
