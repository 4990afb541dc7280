"""Message, what every class in messages/ is: slots made from fields, codecs found by version.

A class body in the notation becomes a class with one slot per field. Nothing is compiled when the
class is made: the initialiser is written on the first construction, a codec on the first use of
its version. A broker serves a few dozen of the several hundred (message, version) pairs there are.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar, cast, dataclass_transform

from kbroker.wire import notation
from kbroker.wire.errors import ProtocolError
from kbroker.wire.notation import Buffer, Field, Part
from kbroker.wire.versions import NEVER, VersionRange, parse_versions

if TYPE_CHECKING:
    from typing import Self

# Gives the message that stands between two positions of a buffer, and the position behind it.
Decoder: TypeAlias = "Callable[[Buffer, int, int], tuple[Message, int]]"
# Gives the parts of a message, to be sent one after another.
Encoder: TypeAlias = "Callable[[Message], list[Part]]"

_M = TypeVar("_M", bound="Message")


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(
        notation.int8,
        notation.int16,
        notation.uint16,
        notation.int32,
        notation.int64,
        notation.float64,
        notation.boolean,
        notation.uuid,
        notation.string,
        notation.data,
        notation.records,
        notation.structure,
        notation.array,
        notation.int_array,
        notation.string_array,
        notation.uuid_array,
    ),
)
class MessageType(type):
    """Makes message classes: the fields of the body become slots."""

    def __new__(  # noqa: D102 - what it does is said above
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, object],
        **options: int | str,
    ) -> "MessageType":
        fields = tuple(value for value in namespace.values() if isinstance(value, Field))
        body = {key: value for key, value in namespace.items() if not isinstance(value, Field)}
        for key, value in namespace.items():
            if isinstance(value, Field):
                value.name = key
        own_slots = cast("tuple[str, ...]", namespace.get("__slots__", ()))
        body["__slots__"] = (*own_slots, *(field.name for field in fields))
        # A class that adds no field to a message has that one's fields and codecs.
        if fields or not any(getattr(base, "fields", ()) for base in bases):
            body["fields"] = fields
            body["_decoders"] = {}
            body["_encoders"] = {}
        if "versions" in options:
            body["versions"] = parse_versions(str(options["versions"]))
            body["flexible_versions"] = parse_versions(str(options["flexible"]))
        for number in ("api_key", "record_type"):
            if number in options:
                body[number] = options[number]
        return super().__new__(mcs, name, bases, body)

    def __init__(
        cls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, object],
        **_options: int | str,
    ) -> None:
        super().__init__(name, bases, namespace)


class Message(metaclass=MessageType):
    """A structure of the protocol, one class for all versions.

    Fields that a version lacks have their default after decoding, and are left out of the bytes
    when encoding: from responses silently, from all others only if they hold their default.
    """

    fields: ClassVar[tuple[Field, ...]]
    versions: ClassVar[VersionRange] = NEVER
    flexible_versions: ClassVar[VersionRange] = NEVER
    # Whether a value that the version cannot carry is dropped (responses) or refused.
    drops_unknown: ClassVar[bool] = False
    _decoders: ClassVar[dict[int, Decoder]]
    _encoders: ClassVar[dict[int, Encoder]]

    if not TYPE_CHECKING:  # The checker knows the initialiser from the fields.

        def __init__(self, **values: object) -> None:
            # Runs once a class: from now on the class has an initialiser of its own.
            type(self).__init__ = compile_initialiser(type(self))
            self.__init__(**values)

    @classmethod
    def decoder(cls, version: int) -> Decoder:
        """The decoder for ``version``, compiled now if nobody asked before.

        ProtocolError if there is no such version.
        """
        found = cls._decoders.get(version)
        if found is None:
            if version not in cls.versions:
                raise ProtocolError(f"{cls.__name__} has no version {version}")
            from kbroker.wire.decoding import compile_decoder

            found = cls._decoders[version] = compile_decoder(cls, version)
        return found

    @classmethod
    def encoder(cls, version: int) -> Encoder:
        """The encoder for ``version``, compiled now if nobody asked before.

        ValueError if there is no such version.
        """
        found = cls._encoders.get(version)
        if found is None:
            if version not in cls.versions:
                raise ValueError(f"{cls.__name__} has no version {version}")
            from kbroker.wire.encoding import compile_encoder

            found = cls._encoders[version] = compile_encoder(cls, version)
        return found

    @classmethod
    def decode(cls, buffer: Buffer, version: int, position: int = 0) -> "Self":
        """The message at ``position``; bytes behind it are ignored, as Kafka does.

        Every `records` field is a view on ``buffer``. ProtocolError if the bytes are no such
        message.
        """
        message, _ = cls.decoder(version)(buffer, position, len(buffer))
        return cast("Self", message)

    def encode(self, version: int) -> list[Part]:
        """The parts whose bytes, one after another, are this message."""
        return self.encoder(version)(self)

    def encode_bytes(self, version: int) -> bytes:
        """The same in one piece, for messages without file slices."""
        return b"".join(cast(list[bytes], self.encode(version)))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in self.fields)

    __hash__ = None  # type: ignore[assignment]  # messages change

    def __repr__(self) -> str:
        values = (f"{field.name}={getattr(self, field.name)!r}" for field in self.fields)
        return f"{type(self).__name__}({', '.join(values)})"


class Structure(Message):
    """A part of a message; it has the versions of the message that holds it."""


class Request(Message):
    """What a client asks."""

    api_key: ClassVar[int]


class Response(Message):
    """What a broker answers."""

    api_key: ClassVar[int]
    drops_unknown = True


class Stored(Message):
    """What is neither: headers, group protocol blobs, records of the internal topics."""


class StoredRecord(Stored):
    """The key or the value of a record in an internal topic.

    A key starts with its type in two bytes, a value with its version; neither is a field.
    """

    record_type: ClassVar[int]


def compile_initialiser(cls: type[_M]) -> Callable[..., None]:
    """An ``__init__`` with one keyword per field.

    A default that can change (a list, a structure) is made anew for each message.
    """
    constants: dict[str, object] = {"FRESH": _FRESH}
    parameters, body = [], []
    for field in cls.fields:
        name = field.name
        constants[f"default_{name}"] = field.default
        if isinstance(field.default, list):
            parameters.append(f"{name}=FRESH")
            body.append(f"    self.{name} = [] if {name} is FRESH else {name}")
        elif field.type == "structure" and not field.nullable and field.tag is None:
            constants[f"class_{name}"] = field.element
            parameters.append(f"{name}=FRESH")
            body.append(f"    self.{name} = class_{name}() if {name} is FRESH else {name}")
        else:
            parameters.append(f"{name}=default_{name}")
            body.append(f"    self.{name} = {name}")
    head = f"def __init__(self, *, {', '.join(parameters)}):" if parameters else ""
    source = "\n".join([head or "def __init__(self):", *(body or ["    pass"])])
    exec(source, constants)  # noqa: S102 - the names come from our own classes
    return cast("Callable[..., None]", constants["__init__"])


_FRESH = object()
