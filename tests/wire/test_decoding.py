"""What decoders accept beside what encoders write, and what they refuse."""

import struct

import pytest

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire import notation as n
from kbroker.wire.errors import ProtocolError
from kbroker.wire.message import Request, Stored, Structure


class Pair(Structure):
    left: int = n.int32("0+")
    right: int = n.int32("1+", default=-1)


class Small(Request, api_key=0, versions="0-2", flexible="2+"):
    name: str | None = n.string("0+", nullable="1+")
    blob: bytes = n.data("0+")
    pairs: list[Pair] = n.array(Pair, "0+", default=[])
    pair: Pair | None = n.structure(Pair, "1+", nullable="1+")
    always: Pair = n.structure(Pair, "2+", default=Pair())
    topic_id: Uuid = n.uuid("2+", default=ZERO_UUID)
    hint: int = n.int16("2+", default=7, tag=3)
    tagged: Pair | None = n.structure(Pair, "2+", tag=4)


SMALL = Small(name="a", blob=b"b", pairs=[Pair(left=1)], pair=Pair(left=2))


def test_fields_that_a_version_lacks_have_their_default():
    message = Small(name="a", blob=b"b", pairs=[Pair(left=1)])
    decoded = Small.decode(message.encode_bytes(0), 0)
    assert decoded == message
    assert decoded.hint == 7
    assert decoded.pair is None
    assert decoded.always == Pair()
    assert decoded.pairs[0].right == -1


def test_default_structures_are_not_shared_between_messages():
    encoded = Small().encode_bytes(0)
    first, second = Small.decode(encoded, 0), Small.decode(encoded, 0)
    first.always.left = 5
    assert second == Small()


def test_arrays_without_elements_are_shared_and_cannot_be_changed():
    first, second = (Small.decode(Small().encode_bytes(version), version) for version in (0, 1))
    assert first.pairs is second.pairs
    assert first.pairs == []
    assert isinstance(first.pairs, list)
    with pytest.raises(TypeError, match="shared"):
        first.pairs.append(Pair())
    with pytest.raises(TypeError, match="shared"):
        first.pairs += [Pair()]
    with pytest.raises(TypeError, match="shared"):
        first.pairs[:] = [Pair()]
    assert [*first.pairs, *second.pairs] == []


@pytest.mark.parametrize("version", [0, 1, 2])
def test_every_truncation_is_refused(version: int):
    message = SMALL if version else Small(name="a", blob=b"b", pairs=[Pair(left=1)])
    encoded = message.encode_bytes(version)
    for length in range(len(encoded)):
        with pytest.raises(ProtocolError):
            Small.decode(encoded[:length], version)
        # The same with other bytes behind, as in a receive buffer.
        with pytest.raises(ProtocolError):
            Small.decoder(version)(encoded + bytes(64), 0, length)


@pytest.mark.parametrize("buffer_type", [bytes, bytearray, memoryview])
def test_a_message_in_the_middle_of_a_buffer_is_found(buffer_type: type):
    encoded = SMALL.encode_bytes(2)
    buffer = buffer_type(b"before" + encoded + b"behind")
    message, position = Small.decoder(2)(buffer, 6, 6 + len(encoded))
    assert message == SMALL
    assert position == 6 + len(encoded)
    assert isinstance(message.blob, bytes)
    assert isinstance(message.topic_id, bytes)


def test_bytes_behind_a_message_are_ignored():
    assert Small.decode(SMALL.encode_bytes(1) + b"more", 1) == SMALL


def test_null_where_none_may_be_is_refused():
    with pytest.raises(ProtocolError, match="null"):
        Small.decode(b"\xff\xff" + bytes(8), 0)
    assert Small.decode(b"\xff\xff" + bytes(8) + b"\xff", 1).name is None
    with pytest.raises(ProtocolError, match="null"):
        Small.decode(b"\x00\x00" + b"\xff\xff\xff\xff" + bytes(4), 0)
    with pytest.raises(ProtocolError, match="null"):
        Small.decode(b"\x01\x00" + bytes(64), 2)


def test_any_negative_length_is_null_as_in_kafka():
    assert Small.decode(b"\x80\x00" + bytes(8) + b"\x80", 1) == Small(name=None)


def test_bytes_that_are_not_utf_8_are_replaced():
    """As Java does; the request is answered, not cut off."""
    decoded = Small.decode(b"\x00\x02\xff\xfe" + bytes(8), 0)
    assert decoded.name == "\ufffd\ufffd"


def test_a_text_longer_than_its_old_length_can_say_is_refused():
    head = struct.pack("BBB", 0x80, 0x80, 0x02)  # 32,768 and one
    with pytest.raises(ProtocolError, match="more than 32767"):
        Small.decode(b"\x81" + head[1:] + b"t" * 40_000, 2)
    fits = b"\x80" + head[1:] + b"t" * 32_767 + b"\x01\x01\xff" + bytes(9 + 16 + 1)
    assert Small.decode(fits, 2).name == "t" * 32_767


def test_numbers_that_are_too_long_are_refused():
    for length in (b"\xff\xff\xff\xff\x7f", b"\x80\x80\x80\x80\x80\x01", b"\xff" * 10):
        with pytest.raises(ProtocolError, match="variable-length"):
            Small.decode(length + bytes(100), 2)


def flexible(*tags: bytes) -> bytes:
    """An empty message of version 2 with these tagged fields."""
    return b"\x01\x01\x01\xff" + bytes(9) + bytes(16) + bytes((len(tags),)) + b"".join(tags)


def test_tagged_fields_are_read_and_unknown_ones_are_stepped_over():
    pair = b"\x04\x09" + struct.pack(">ii", 1, 2) + b"\x00"
    decoded = Small.decode(flexible(b"\x01\x02xx", b"\x03\x02\x00\x09", pair, b"\x63\x00"), 2)
    assert decoded.hint == 9
    assert decoded.tagged == Pair(left=1, right=2)


def test_unknown_tags_in_elements_of_fixed_size_are_stepped_over():
    """Many such elements are read in one sweep; one tag makes the decoder go back."""
    for tagged_one in (None, 0, 3, 9):
        pairs = b"".join(
            struct.pack(">ii", number, number)
            + (b"\x01\x05\x03xyz" if number == tagged_one else b"\x00")
            for number in range(10)
        )
        frame = b"\x01\x01\x0b" + pairs + b"\xff" + bytes(9) + bytes(16) + b"\x00"
        decoded, position = Small.decoder(2)(frame, 0, len(frame))
        assert position == len(frame)
        assert [pair.left for pair in decoded.pairs] == list(range(10))


@pytest.mark.parametrize("size", [b"\x01", b"\x03", b"\x7f"])
def test_a_tagged_field_that_is_not_as_long_as_it_says_is_refused(size: bytes):
    with pytest.raises(ProtocolError):
        Small.decode(flexible(b"\x03" + size + b"\x00\x09\x00"), 2)


def test_an_unknown_tag_that_goes_on_behind_the_end_is_refused():
    with pytest.raises(ProtocolError, match="tagged field 1"):
        Small.decode(flexible(b"\x01\x7fxx"), 2)


def test_a_version_that_does_not_exist_is_refused():
    with pytest.raises(ProtocolError, match="no version 3"):
        Small.decode(b"", 3)


class Batch(Stored, versions="0", flexible="none"):
    name: str = n.string("0+")
    records: n.Part | None = n.records("0+", nullable="0+")


def test_records_are_a_view_on_the_buffer():
    buffer = bytearray(b"\x00\x01a" + b"\x00\x00\x00\x03abc")
    decoded = Batch.decode(buffer, 0)
    buffer[-1:] = b"z"
    assert isinstance(decoded.records, memoryview)
    assert bytes(decoded.records) == b"abz"
    assert decoded.name == "a"


class Lists(Stored, versions="0-1", flexible="1+"):
    bytes_: list[int] = n.int_array("int8", "0+", default=[])
    shorts: list[int] = n.int_array("int16", "0+", default=[])
    longs: list[int] | None = n.int_array("int64", "0+", nullable="0+", default=None)
    ids: list[Uuid] = n.uuid_array("0+", default=[])
    names: list[str] = n.string_array("0+", default=[])


@pytest.mark.parametrize("version", [0, 1])
def test_arrays_of_all_simple_kinds_come_back(version: int):
    message = Lists(
        bytes_=[-128, 127],
        shorts=[-32768, 32767],
        longs=[-(2**63), 2**63 - 1],
        ids=[Uuid(bytes([1]) * 16), ZERO_UUID],
        names=["", "ü"],
    )
    assert Lists.decode(message.encode_bytes(version), version) == message
    assert Lists.decode(Lists().encode_bytes(version), version) == Lists()
