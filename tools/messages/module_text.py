"""One message module as source text, in the notation of `kbroker.wire.notation`.

Every default is written out: a type checker takes a field without one for an argument that must
be given.
"""

from collections.abc import Iterator

from tools.messages.definitions import FieldDefinition, MessageDefinition, StructureDefinition
from tools.messages.names import attribute_name

# Kafka's word: our word in the notation, the type of the attribute, the default.
_PLAIN = {
    "bool": ("boolean", "bool", "False"),
    "int8": ("int8", "int", "0"),
    "int16": ("int16", "int", "0"),
    "uint16": ("uint16", "int", "0"),
    "int32": ("int32", "int", "0"),
    "int64": ("int64", "int", "0"),
    "float64": ("float64", "float", "0.0"),
    "uuid": ("uuid", "Uuid", "ZERO_UUID"),
    "string": ("string", "str", '""'),
    "bytes": ("data", "bytes", 'b""'),
    "records": ("records", "Part", "None"),
}
_NUMBERS = ("int8", "int16", "int32", "int64")
_BASES = {
    "request": "Request",
    "response": "Response",
    "header": "Stored",
    "data": "Stored",
    "coordinator-key": "StoredRecord",
    "coordinator-value": "StoredRecord",
}
# A field of this name would hide what every message has.
_TAKEN = {
    *("fields", "versions", "flexible_versions", "drops_unknown"),
    *("decoder", "encoder", "decode", "encode", "encode_bytes"),
}


def module_text(title: str, messages: tuple[MessageDefinition, ...]) -> str:
    """The source of the module that holds ``messages``, before it is formatted."""
    shared = _names_in_several(messages)
    classes: list[str] = []
    words: set[str] = set()
    bases: set[str] = set()
    for message in messages:
        # Request and Response, or what else tells the messages of a module apart.
        prefix = message.name.removeprefix(title)
        renamed = {name: f"{prefix}{name}" for name in shared}
        for structure in message.structures:
            name = renamed.get(structure.name, structure.name)
            classes.append(_class_text(f"class {name}(Structure):", structure, renamed))
            bases.add("Structure")
        classes.append(_class_text(_message_head(message), message, renamed))
        bases.add(_BASES[message.kind])
        words |= _words(message)
    body = "\n\n\n".join(classes)
    return f'"""{_docstring(title, messages)}"""\n\n{_imports(body, words, bases)}\n\n\n{body}\n'


def _names_in_several(messages: tuple[MessageDefinition, ...]) -> set[str]:
    """Structure names that more than one of ``messages`` uses, for structures of its own."""
    names = [structure.name for message in messages for structure in message.structures]
    names += [message.name for message in messages]
    return {name for name in names if names.count(name) > 1}


def _docstring(title: str, messages: tuple[MessageDefinition, ...]) -> str:
    first = messages[0]
    if first.kind == "request":
        return f"{title} (key {first.key}), {_versions(first)}."
    if first.kind == "coordinator-key":
        record = title.removesuffix("Record")
        return (
            f"{record}, a record of an internal topic (type {first.key}).\n\n"
            f"Its value: {_versions(messages[1])}.\n"
        )
    return "\n\n".join(f"{each.name}: {_versions(each)}." for each in messages) + "\n"


def _versions(message: MessageDefinition) -> str:
    """``versions 3-13, flexible from 9``, in words for a docstring."""
    alone = message.first_version == message.last_version
    words = f"{'version' if alone else 'versions'} {message.versions}"
    if message.flexible == "none":
        return f"{words}, never flexible"
    assert message.flexible.endswith("+")
    first = int(message.flexible.removesuffix("+"))
    always = first <= message.first_version
    return f"{words}, {'always flexible' if always else f'flexible from {first}'}"


def _message_head(message: MessageDefinition) -> str:
    options = [_BASES[message.kind]]
    if message.kind in ("request", "response"):
        options.append(f"api_key={message.key}")
    elif message.key is not None:
        options.append(f"record_type={message.key}")
    options.append(f'versions="{message.versions}"')
    options.append(f'flexible="{message.flexible}"')
    return f"class {message.name}({', '.join(options)}):"


def _class_text(
    head: str, holder: StructureDefinition | MessageDefinition, renamed: dict[str, str]
) -> str:
    lines = [head]
    used: set[str] = set()
    for field in holder.fields:
        attribute = attribute_name(field.name)
        word, annotation, arguments = _field_parts(field, renamed)
        assert attribute not in _TAKEN, f"{holder.name}.{field.name} hides a member of Message"
        assert word not in used, f"{holder.name}: a field hides the word {word}"
        used.add(attribute)
        lines.append(f"    {attribute}: {annotation} = {word}({', '.join(arguments)})")
    if not holder.fields:
        lines.append("    pass")
    return "\n".join(lines)


def _field_parts(field: FieldDefinition, renamed: dict[str, str]) -> tuple[str, str, list[str]]:
    """The word of the notation, the type of the attribute, the arguments of the word."""
    element = renamed.get(field.element, field.element)
    arguments = [f'"{field.versions}"']
    if field.is_array:
        word, element_type = _array_word(field)
        if field.is_structured:
            element_type = element
            arguments.insert(0, element)
        elif word == "int_array":
            arguments.insert(0, f'"{element}"')
        annotation = f"list[{element_type}]"
    elif field.is_structured:
        word, annotation = "structure", element
        arguments.insert(0, element)
    else:
        word, annotation, _ = _PLAIN[field.type]
    if field.nullable is not None:
        arguments.append(f'nullable="{field.nullable}"')
    arguments.append(f"default={_default(field, element)}")
    if field.tag is not None:
        arguments.append(f"tag={field.tag}")
    if field.ignorable:
        arguments.append("ignorable=True")
    absent = word == "structure" and field.tag is not None
    return word, annotation + (" | None" if field.nullable or absent else ""), arguments


def _array_word(field: FieldDefinition) -> tuple[str, str]:
    if field.is_structured:
        return "array", ""
    if field.element in _NUMBERS:
        return "int_array", "int"
    return {"string": ("string_array", "str"), "uuid": ("uuid_array", "Uuid")}[field.element]


def _default(field: FieldDefinition, element: str) -> str:
    """The default as Python writes it. Where Kafka says nothing, zero, empty or absent."""
    if field.default == "null":
        assert field.nullable is not None
        return "None"
    if field.is_array:
        assert not field.default
        return "[]"
    if field.is_structured:
        assert not field.default
        return "None" if field.nullable or field.tag is not None else f"{element}()"
    word, annotation, unsaid = _PLAIN[field.type]
    if not field.default:
        return unsaid
    if word == "boolean":
        return {"true": "True", "false": "False"}[field.default.lower()]
    if annotation == "int":
        return str(int(field.default, 0))
    assert word == "float64", f"no default is known for {field.type}"
    return repr(float(field.default))


def _words(message: MessageDefinition) -> set[str]:
    holders: list[StructureDefinition | MessageDefinition] = [message, *message.structures]
    return {_field_parts(field, {})[0] for holder in holders for field in holder.fields}


def _number_order(word: str) -> tuple[str, int, str]:
    """Sorts int8 before int16, as ruff wants imports."""
    letters = word.rstrip("0123456789")
    return letters.partition("_")[0], int(word.removeprefix(letters) or 99), word


def _imports(body: str, words: set[str], bases: set[str]) -> str:
    return "\n".join(_import_lines(body, words, bases))


def _import_lines(body: str, words: set[str], bases: set[str]) -> Iterator[str]:
    model = [name for name in ("ZERO_UUID", "Uuid") if name in body]
    if model:
        yield f"from kbroker.model import {', '.join(model)}"
    yield f"from kbroker.wire.message import {', '.join(sorted(bases))}"
    names = [*(["Part"] if "records" in words else []), *sorted(words, key=_number_order)]
    if names:
        yield f"from kbroker.wire.notation import {', '.join(names)}"
