"""Whatever the bytes, only ProtocolError leaves a decoder, and it allocates little (INVARIANTS 5).

Each run tries 2,000 examples. To try more:

    KBROKER_FUZZ_EXAMPLES=100000 pytest --timeout=0 tests/wire/test_hostile.py
"""

import os
import struct
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbroker.wire.api_keys import ApiKey
from kbroker.wire.apis import API_SPECS, request_class
from kbroker.wire.decoding import careful_decoder
from kbroker.wire.errors import ProtocolError
from kbroker.wire.headers import decode_request_header
from kbroker.wire.message import Message, Request
from kbroker.wire.messages.describe_configs import DescribeConfigsRequest
from kbroker.wire.messages.metadata import MetadataRequest
from kbroker.wire.messages.offset_delete import OffsetDeleteRequest
from kbroker.wire.notation import Buffer
from kbroker.wire.tags import MAX_HEADER_TAGGED_FIELDS, MAX_TAGGED_FIELDS
from tests.wire.catalogue import all_messages, all_pairs, pair_id, strategy
from tests.wire.reference import Mark, ReferenceEncoder, uvarint

# Seconds of work; part of `make test`, not of `make check`.
pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("KBROKER_FUZZ_EXAMPLES", "2000"))
PAIRS = list(all_pairs())

hostile = settings(
    max_examples=EXAMPLES // 2,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def allocated(decode: Callable[[], object]) -> tuple[int, object]:
    """The most that was allocated while ``decode`` ran, and what it gave; None if it refused.

    All of what it gave is looked at, because a decoder may put off the making of objects.
    """
    tracemalloc.start()
    try:
        result = decode()
        look_at(result)
    except ProtocolError:
        result = None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak, result


def look_at(value: object) -> None:
    """Touches every element of every array in a message."""
    if isinstance(value, list | tuple):
        for element in value:
            look_at(element)
    elif isinstance(value, Message):
        for field in value.fields:
            look_at(getattr(value, field.name))


def decode_hostile(cls: type[Message], version: int, frame: Buffer) -> object:
    """Decodes, and asserts what must hold for all bytes."""
    decoder = cls.decoder(version)
    careful_decoder(cls, version)  # Compiled once, and no part of what a frame costs.
    # Not bytes, because those need not be copied.
    buffer = bytearray(frame)
    peak, result = allocated(lambda: decoder(buffer, 0, len(buffer)))
    # Decision 3 says why one message may take more.
    factor = 20 if cls is OffsetDeleteRequest else 16
    assert peak <= factor * len(frame) + 64 * 1024
    if result is not None:
        message, position = result
        assert isinstance(message, cls)
        assert 0 <= position <= len(frame)
    return result


# Where a lie is likely to hurt: around nothing, around one byte and two, at the ends of numbers.
LIES = st.sampled_from(
    [0, 1, 2, 3, 64, 65, 126, 127, 128, 129, 1023, 1024, 1025, 16383, 16384, 32767, 32768, 65535,
     2**20, 2**24, 2**31 - 2, 2**31 - 1]
)  # fmt: skip


@st.composite
def lying_frames(draw: st.DrawFn) -> tuple[type[Message], int, bytes]:
    """A valid message whose bytes were changed at one to three places."""
    cls, version = draw(st.sampled_from(PAIRS))
    encoder = ReferenceEncoder(cls, version)
    frame = encoder.encode(draw(strategy(cls, version)))
    lies = draw(st.dictionaries(st.integers(0, 999), LIES | st.just(-1), max_size=3))
    marks = {number % len(encoder.marks): value for number, value in lies.items() if encoder.marks}
    # From behind, so that the marks before stay true.
    for number in sorted(marks, reverse=True):
        mark = encoder.marks[number]
        left = len(frame) - mark.stop
        frame = lie(frame, mark, left if marks[number] < 0 else marks[number])
    kind = draw(st.sampled_from(["none", "cut", "splice", "flip", "repeat"]))
    if frame and kind != "none":
        first = draw(st.integers(0, len(frame) - 1))
        second = draw(st.integers(0, len(frame) - 1))
        frame = change(frame, kind, min(first, second), max(first, second))
    return cls, version, frame


def lie(frame: bytes, mark: Mark, value: int) -> bytes:
    if mark.form == "uvarint":
        written = uvarint(value)
    else:
        bits = 16 if mark.form == "h" else 32
        written = (value % 2**bits).to_bytes(bits // 8, "big")
    return frame[: mark.start] + written + frame[mark.stop :]


def change(frame: bytes, kind: str, first: int, second: int) -> bytes:
    if kind == "cut":
        return frame[:first]
    if kind == "splice":
        return frame[:first] + frame[second:]
    if kind == "flip":
        return frame[:first] + bytes((frame[first] ^ 0xFF,)) + frame[first + 1 :]
    return frame[:second] + frame[first:second] * 20 + frame[second:]


@hostile
@given(lying_frames())
def test_lies_in_valid_messages_are_refused_or_harmless(case: tuple[type[Message], int, bytes]):
    cls, version, frame = case
    as_bytes = decode_hostile(cls, version, frame)
    # Behind the end lies the next frame, as in a receive buffer; nothing of it may be used.
    decoder = cls.decoder(version)
    buffer = memoryview(bytearray(b"\x01" * 7 + frame + b"\x01" * 64))
    _, in_buffer = allocated(lambda: decoder(buffer, 7, 7 + len(frame)))
    if as_bytes is None:
        assert in_buffer is None
    else:
        assert in_buffer == (as_bytes[0], as_bytes[1] + 7)


NOISE = (
    st.binary(max_size=300)
    | st.binary(min_size=1, max_size=5).map(lambda piece: piece * 2000)
    | st.tuples(st.binary(max_size=30), st.integers(0, 3)).map(
        lambda parts: parts[0] + bytes((parts[1],)) * 5000
    )
)


@hostile
@given(st.sampled_from(PAIRS), NOISE)
def test_noise_is_refused_or_harmless(pair: tuple[type[Message], int], noise: bytes):
    decode_hostile(*pair, noise)
    _, header = allocated(lambda: decode_request_header(noise, 0, len(noise)))
    assert header is None or header.body <= len(noise)


def build(cls: type[Message], values: dict[str, object]) -> Message:
    """A ``cls`` with these values; its records are empty, because they cannot always be null."""
    empty = {field.name: b"" for field in cls.fields if field.type == "records"}
    return cls(**empty | values)


def smallest(cls: type[Message], version: int, elements: int) -> Iterator[Message]:
    """Messages that are one array of the smallest elements, for each array in ``cls``."""
    for field in cls.fields:
        if version not in field.versions or field.element is None:
            continue
        if isinstance(field.element, type):
            element = field.element
            if field.type == "array":
                yield build(cls, {field.name: [build(element, {})] * elements})
            for inner in smallest(element, version, elements):
                yield build(cls, {field.name: [inner] if field.type == "array" else inner})
        else:
            value = {"string": "", "uuid": bytes(16)}.get(field.element, 1000)
            if field.element == "int8":
                value = 1
            yield build(cls, {field.name: [value] * elements})


def with_children(cls: type[Message], version: int) -> Message:
    """A ``cls`` in which all that may be absent is there, and each text is one strange letter."""
    values: dict[str, object] = {}
    for field in cls.fields:
        if version not in field.versions:
            continue
        if field.type == "records":
            values[field.name] = b""
        elif field.type == "string":
            values[field.name] = "\U0001f431"
        elif field.type == "structure":
            assert isinstance(field.element, type)
            values[field.name] = with_children(field.element, version)
        elif field.type in ("int16", "int32", "int64"):
            values[field.name] = 1000
    return cls(**values)


# Strangers send requests; responses come from brokers we chose, and are left to `make test`.
AMPLIFIERS = [
    pytest.param(cls, marks=() if issubclass(cls, Request) else pytest.mark.slow, id=pair_id(cls))
    for cls in all_messages()
]


@pytest.mark.parametrize("cls", AMPLIFIERS)
def test_arrays_of_small_elements_are_amplified_sixteen_times_at_most(cls: type[Message]):
    """CVE-2026-111108: what is small on the wire is large in memory."""
    for version in {cls.versions.first, cls.versions.last}:
        for message in smallest(cls, version, 1000):
            decode_hostile(cls, version, message.encode_bytes(version))
        for field in cls.fields:
            if version in field.versions and field.type == "array":
                if not isinstance(field.element, type):
                    continue
                child = with_children(field.element, version)
                message = cls(**{field.name: [child] * 400})
                decode_hostile(cls, version, message.encode_bytes(version))


def metadata_frame(names: list[bytes]) -> bytes:
    count = struct.pack(">i", len(names))
    return count + b"".join(struct.pack(">h", len(name)) + name for name in names)


CAT = "\U0001f431".encode()


@pytest.mark.parametrize("name", [b"", b"abc", b"\xff", CAT, CAT + b"t" * 60], ids=repr)
@pytest.mark.parametrize("last", [b"", CAT + b"t" * 32_763], ids=["", "long"])
def test_the_largest_message_that_passes_stays_within_the_bound(name: bytes, last: bytes):
    """Right before a decoder refuses it has allocated the most; at the end comes a long text."""
    passes, refused = 0, 6000
    while refused - passes > 50:
        middle = (passes + refused) // 2
        frame = metadata_frame([name] * middle + [last])
        if decode_hostile(MetadataRequest, 1, frame) is None:
            refused = middle
        else:
            passes = middle
    assert passes > 500


def test_elements_that_are_read_again_for_their_tags_are_not_kept_twice():
    """An unknown tag behind the last of many partitions makes the decoder go back."""
    cls = request_class(ApiKey.LIST_OFFSETS)
    partition = struct.pack(">iiq", 1000, 1000, 2**62)
    for count in (100, 1000, 5000):
        partitions = uvarint(count + 1) + (partition + b"\0") * (count - 1) + partition
        frame = bytes(5) + b"\x02\x02t" + partitions + b"\x01\x05\x01x" + bytes(2)
        message, _ = decode_hostile(cls, 6, frame)
        assert len(message.topics[0].partitions) == count


@pytest.mark.parametrize("number", [-(2**31), -6, 256, 257, 2**30, 2**31 - 1])
def test_numbers_are_amplified_twenty_times_at_most(number: int):
    """The densest structures there are, and lists of one number within them."""
    cls = request_class(ApiKey.CREATE_TOPICS)
    assignment = struct.pack(">iBiB", number, 2, number, 0)
    for count in (500, 2000, 8000):
        partitions = struct.pack(">i", count) + struct.pack(">i", number) * count
        frame = b"\0\0" + struct.pack(">i", 1) + b"\0\0" + partitions
        assert decode_hostile(OffsetDeleteRequest, 0, frame) is not None
        assignments = uvarint(count + 1) + assignment * count
        decode_hostile(cls, 7, b"\x02\x02t" + bytes(6) + assignments + b"\x01\0" + bytes(6))


def test_the_count_of_an_array_allocates_nothing():
    """CVE-2026-111108: a count of two thousand million in a frame of six bytes."""
    decode = MetadataRequest.decoder(1)
    for count in (2**31 - 1, 2**20):
        frame = struct.pack(">i", count) + b"\0\0"
        peak, result = allocated(lambda frame=frame: decode(frame, 0, len(frame)))
        assert result is None
        assert peak < 4096


def test_the_count_of_an_array_within_an_array_allocates_nothing():
    """CVE-2026-111108: the same one level deeper."""
    assert "resources" in {field.name for field in DescribeConfigsRequest.fields}
    resource = b"\x02" + struct.pack(">h", 1) + b"t" + struct.pack(">i", 2**31 - 1)
    frame = struct.pack(">i", 1) + resource + b"\0\0"
    decode = DescribeConfigsRequest.decoder(1)
    peak, result = allocated(lambda: decode(frame, 0, len(frame)))
    assert result is None
    assert peak < 4096


def header(tags: bytes) -> bytes:
    """The header of an ApiVersions request of version 3, which nobody needs to be known for."""
    return struct.pack(">hhih", ApiKey.API_VERSIONS, 3, 1, -1) + tags


def test_a_header_full_of_tags_is_refused_before_it_costs_anything():
    """CVE-2026-111115: 512 KiB of tagged fields, two bytes each, before authentication."""
    count = 250_000
    frame = header(uvarint(count) + b"\x01\x00" * count)
    assert len(frame) < 512 * 1024

    peak, result = allocated(lambda: decode_request_header(frame, 0, len(frame)))

    assert result is None
    assert peak < 64 * 1024


def test_tags_in_a_header_are_stepped_over_up_to_their_limit():
    most = MAX_HEADER_TAGGED_FIELDS
    frame = header(uvarint(most) + b"\x05\x01x" * most)
    assert decode_request_header(frame, 0, len(frame)).body == len(frame)

    frame = header(uvarint(most + 1) + b"\x05\x01x" * (most + 1))
    with pytest.raises(ProtocolError, match="65 tagged fields"):
        decode_request_header(frame, 0, len(frame))


def test_tags_in_a_message_are_stepped_over_up_to_their_limit():
    cls = request_class(ApiKey.API_VERSIONS)
    most = MAX_TAGGED_FIELDS
    start = b"\x02a\x02b"
    frame = start + uvarint(most) + b"\x05\x01x" * most
    assert cls.decode(frame, 3).encode_bytes(3) == start + b"\0"

    with pytest.raises(ProtocolError, match="1025 tagged fields"):
        cls.decode(start + uvarint(most + 1) + b"\x05\x01x" * (most + 1), 3)


def test_every_request_refuses_to_be_empty_or_is_empty():
    for key in API_SPECS:
        for version in request_class(key).versions:
            result = decode_hostile(request_class(key), version, b"")
            if result is not None:
                assert result[0].encode_bytes(version) == b""
