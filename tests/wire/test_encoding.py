"""Each kind of field to bytes, and what happens to fields that a version lacks."""

import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbroker.model import ZERO_UUID, FileSlice, Uuid
from kbroker.wire import notation as n
from kbroker.wire.errors import FieldNotInVersionError
from kbroker.wire.message import Message, Request, Response, Stored, Structure
from tests.wire.catalogue import all_messages, pair_id, strategy
from tests.wire.reference import ReferenceEncoder

SOME_UUID = Uuid(bytes(range(16)))


class Point(Structure):
    x: int = n.int32("0+")
    y: int = n.int32("0+")


class Everything(Stored, versions="0-1", flexible="1+"):
    """Version 0 in the old form, version 1 in the flexible one."""

    tiny: int = n.int8("0+")
    short: int = n.int16("0+")
    port: int = n.uint16("0+")
    number: int = n.int32("0+")
    long: int = n.int64("0+")
    ratio: float = n.float64("0+")
    flag: bool = n.boolean("0+")
    topic_id: Uuid = n.uuid("0+", default=ZERO_UUID)
    name: str = n.string("0+")
    rack: str | None = n.string("0+", nullable="0+", default=None)
    blob: bytes = n.data("0+")
    point: Point = n.structure(Point, "0+", default=Point())
    maybe: Point | None = n.structure(Point, "0+", nullable="0+")
    points: list[Point] = n.array(Point, "0+", default=[])
    numbers: list[int] = n.int_array("int32", "0+", default=[])
    names: list[str] = n.string_array("0+", default=[])
    ids: list[Uuid] | None = n.uuid_array("0+", nullable="0+", default=None)


EVERYTHING = Everything(
    tiny=-1,
    short=-2,
    port=65535,
    number=-3,
    long=-4,
    ratio=0.5,
    flag=True,
    topic_id=SOME_UUID,
    name="é",
    blob=b"12",
    point=Point(x=1, y=2),
    maybe=Point(x=3, y=4),
    points=[Point(x=5, y=6)],
    numbers=[7, 8],
    names=["a", ""],
)

FIXED = struct.pack(">bhHiqd?", -1, -2, 65535, -3, -4, 0.5, True) + SOME_UUID


def two(x: int, y: int) -> bytes:
    return struct.pack(">ii", x, y)


def test_every_kind_of_field_in_the_old_form():
    assert EVERYTHING.encode_bytes(0) == b"".join(
        [
            FIXED,
            b"\x00\x02\xc3\xa9",
            b"\xff\xff",
            b"\x00\x00\x00\x0212",
            two(1, 2),
            b"\x01" + two(3, 4),
            b"\x00\x00\x00\x01" + two(5, 6),
            b"\x00\x00\x00\x02" + two(7, 8),
            b"\x00\x00\x00\x02" + b"\x00\x01a" + b"\x00\x00",
            b"\xff\xff\xff\xff",
        ]
    )


def test_every_kind_of_field_in_the_flexible_form():
    no_tags = b"\x00"
    assert EVERYTHING.encode_bytes(1) == b"".join(
        [
            FIXED,
            b"\x03\xc3\xa9",
            b"\x00",
            b"\x0312",
            two(1, 2) + no_tags,
            b"\x01" + two(3, 4) + no_tags,
            b"\x02" + two(5, 6) + no_tags,
            b"\x03" + two(7, 8),
            b"\x03" + b"\x02a" + b"\x01",
            b"\x00",
            no_tags,
        ]
    )


@pytest.mark.parametrize("version", [0, 1])
def test_a_null_structure_is_minus_one(version: int):
    with_point = Everything(maybe=Point())
    without = Everything()
    size = len(Point().fields) * 4 + version
    assert len(with_point.encode_bytes(version)) - len(without.encode_bytes(version)) == size
    assert b"\xff" in without.encode_bytes(version)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 126, 127, 128, 1000])
@pytest.mark.parametrize("version", [0, 1])
def test_arrays_of_every_length_come_back(count: int, version: int):
    message = Everything(
        numbers=list(range(count)),
        names=["n"] * count,
        ids=[SOME_UUID] * count,
        points=[Point(x=number, y=-number) for number in range(count)],
        name="t" * count,
        blob=b"b" * count,
    )
    encoded = message.encode_bytes(version)
    assert Everything.decode(encoded, version) == message
    assert encoded == ReferenceEncoder(Everything, version).encode(message)


@pytest.mark.parametrize("version", [0, 1])
def test_what_does_not_fit_its_field_is_an_error(version: int):
    with pytest.raises(ValueError, match="Everything does not fit"):
        Everything(short=32768).encode(version)
    with pytest.raises(ValueError, match=r"Everything does not fit|32768 bytes"):
        Everything(name="t" * 32768).encode(version)
    with pytest.raises(ValueError, match=r"Everything does not fit|32768 bytes"):
        Everything(names=["t" * 32768]).encode(version)
    assert len(Everything(name="t" * 32767).encode_bytes(version)) > 32767


def test_a_version_that_does_not_exist_is_an_error():
    with pytest.raises(ValueError, match="no version 2"):
        Everything().encode(2)


class Tagged(Stored, versions="0-1", flexible="0+"):
    later: int = n.int32("0+", tag=9, default=-1)
    name: str = n.string("0+", tag=2)
    rack: str | None = n.string("0+", nullable="0+", default=None, tag=200)
    point: Point | None = n.structure(Point, "0+", tag=0)
    either: Point | None = n.structure(Point, "1+", nullable="1+", default=None, tag=4)
    numbers: list[int] = n.int_array("int32", "0+", default=[], tag=1)


def test_tagged_fields_are_written_in_the_order_of_their_tags_and_only_if_they_say_something():
    assert Tagged().encode_bytes(0) == b"\x00"
    assert Tagged(later=-1, name="", numbers=[], point=Point()).encode_bytes(0) == b"\x00"

    message = Tagged(later=1, name="ab", rack="", point=Point(x=1, y=2), numbers=[3])
    assert message.encode_bytes(0) == b"".join(
        [
            b"\x05",
            b"\x00\x09" + two(1, 2) + b"\x00",
            b"\x01\x05\x02" + b"\x00\x00\x00\x03",
            b"\x02\x03\x03ab",
            b"\x09\x04" + b"\x00\x00\x00\x01",
            b"\xc8\x01\x01\x01",
        ]
    )
    assert Tagged.decode(message.encode_bytes(0), 0) == message


def test_a_tagged_structure_that_can_be_null_writes_its_null():
    """As Kafka does for ConsumerGroupMemberMetadataValue.classic_member_metadata."""
    assert Tagged(either=None).encode_bytes(1) == b"\x01\x04\x01\x00"
    assert Tagged(either=Point()).encode_bytes(1) == b"\x00"
    there = b"\x01\x04\x0a\x01" + two(1, 0) + b"\x00"
    assert Tagged(either=Point(x=1)).encode_bytes(1) == there
    for message in (Tagged(either=None), Tagged(either=Point()), Tagged(either=Point(x=1))):
        assert Tagged.decode(message.encode_bytes(1), 1) == message


class GrowingRequest(Request, api_key=0, versions="0-2", flexible="2+"):
    name: str | None = n.string("0+", nullable="1+")
    count: int = n.int32("1+", default=-1)
    hint: int = n.int32("1+", default=-1, ignorable=True)
    points: list[Point] = n.array(Point, "1+", default=[])
    point: Point = n.structure(Point, "1+", default=Point())
    maybe: list[int] | None = n.int_array("int32", "1+", nullable="1+", default=[])
    tagged: str = n.string("2+", tag=0)


class GrowingResponse(Response, api_key=0, versions="0-1", flexible="none"):
    name: str = n.string("0+")
    count: int = n.int32("1+", default=-1)
    points: list[Point] = n.array(Point, "1+", default=[])


@pytest.mark.parametrize(
    "request_with_more",
    [
        GrowingRequest(count=0),
        GrowingRequest(points=[Point()]),
        GrowingRequest(point=Point(x=1)),
        GrowingRequest(maybe=None),
        GrowingRequest(maybe=[1]),
        GrowingRequest(tagged="x"),
        GrowingRequest(name=None),
    ],
    ids=["number", "array", "structure", "null", "numbers", "tagged", "null where none may be"],
)
def test_a_request_refuses_a_version_that_cannot_say_what_it_says(request_with_more: Request):
    with pytest.raises(FieldNotInVersionError):
        request_with_more.encode(0)
    assert GrowingRequest.decode(request_with_more.encode_bytes(2), 2) == request_with_more


def test_a_request_drops_what_may_be_ignored_and_what_is_default():
    assert GrowingRequest(name="a", hint=5).encode_bytes(0) == b"\x00\x01a"


def test_a_response_drops_what_its_version_lacks():
    response = GrowingResponse(name="a", count=3, points=[Point(x=1)])
    assert response.encode_bytes(0) == b"\x00\x01a"
    assert GrowingResponse.decode(response.encode_bytes(0), 0) == GrowingResponse(name="a")


class Batches(Structure):
    partition: int = n.int32("0+")
    records: n.Part | None = n.records("0+", nullable="0+")
    after: int = n.int8("0+")


class Fetched(Response, api_key=1, versions="0-1", flexible="1+"):
    batches: list[Batches] = n.array(Batches, "0+", default=[])


def test_records_are_parts_of_their_own_and_all_else_is_joined():
    slice_ = FileSlice(file_descriptor=3, position=100, length=70_000)
    view = memoryview(b"view")
    response = Fetched(
        batches=[
            Batches(partition=1, records=slice_, after=1),
            Batches(partition=2, records=None, after=2),
            Batches(partition=3, records=b"", after=3),
            Batches(partition=4, records=view, after=4),
        ]
    )

    parts = response.encode(1)

    assert parts == [
        b"\x05" + b"\x00\x00\x00\x01" + b"\xf1\xa2\x04",
        slice_,
        b"\x01\x00" + b"\x00\x00\x00\x02\x00\x02\x00" + b"\x00\x00\x00\x03\x01\x03\x00"
        b"\x00\x00\x00\x04\x05",
        view,
        b"\x04\x00" + b"\x00",
    ]
    assert parts[1] is slice_
    assert parts[3] is view


def test_the_first_part_is_bytes_even_if_there_is_nothing_to_say():
    class Empty(Response, api_key=2, versions="0", flexible="none"):
        pass

    assert Empty().encode(0) == [b""]
    assert Fetched().encode(0) == [b"\x00\x00\x00\x00"]


@pytest.mark.parametrize("cls", all_messages(), ids=pair_id)
@settings(
    max_examples=3,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_compiled_encoders_write_what_the_clear_one_writes(cls: type[Message], data: st.DataObject):
    version = data.draw(st.integers(cls.versions.first, cls.versions.last))
    message = data.draw(strategy(cls, version))
    assert message.encode_bytes(version) == ReferenceEncoder(cls, version).encode(message)
