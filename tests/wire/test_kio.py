"""Cross-encoding with kio, an independent codec written from Kafka's definitions.

For every message and version that both know: a message made here and its twin among kio's
dataclasses are the same bytes, and each side reads the other's bytes and writes them again
unchanged. The twins are found by position, because kio gives some fields other names and richer
types (a duration for milliseconds, an enum for error codes); values are drawn from what its types
can hold. `make check` takes few examples of each, `make test` many.
"""

import io
from collections.abc import Iterator
from dataclasses import Field as KioField
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.index import load_entity_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.serial._introspect import (
    EntityField,
    EntityTupleField,
    classify_field,
    get_field_tag,
    is_optional,
)
from kio.static.constants import EntityType

from kbroker.wire.apis import API_SPECS, request_class, response_class
from kbroker.wire.message import Message
from kbroker.wire.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from kbroker.wire.messages.headers import RequestHeader, ResponseHeader
from kbroker.wire.notation import Field
from tests.wire.catalogue import pair_id, strategy

# What kio has beside the APIs of the broker listener and has a class here.
OTHERS: dict[str, type[Message]] = {
    "consumer_protocol_assignment": ConsumerProtocolAssignment,
    "consumer_protocol_subscription": ConsumerProtocolSubscription,
    "request_header": RequestHeader,
    "response_header": ResponseHeader,
}

# What kio has and kbroker has no class for. The first block is spoken between Kafka's brokers and
# its controllers; kbroker keeps metadata in etcd. The second is written into KRaft's log. The third
# is handled elsewhere: transaction markers in `kbroker.records`, principals nowhere yet.
NOT_HERE = {
    "allocate_producer_ids", "alter_partition", "assign_replicas_to_dirs", "begin_quorum_epoch",
    "broker_heartbeat", "broker_registration", "controller_registration", "end_quorum_epoch",
    "envelope", "fetch_snapshot", "update_raft_voter", "vote",
    "k_raft_version_record", "leader_change_message", "snapshot_footer_record",
    "snapshot_header_record", "voters_record",
    "control_record_type_schema", "default_principal_data", "end_txn_marker",
}  # fmt: skip

# What kbroker has and kio 0.6.5 lacks, because it was generated from older definitions.
NOT_IN_KIO = {
    "ApiVersions": {5},
    "DeleteGroups": {3},
    "StreamsGroupDescribe": {1},
    "StreamsGroupHeartbeat": {1},
    "StreamsGroupTopologyDescriptionUpdate": {0},
    "TxnOffsetCommit": {6},
    "UnregisterController": {0},
}

# Fields that Kafka renamed after kio was generated; names are not on the wire.
RENAMED = {
    "acceptable_recovery_lag_legacy": "acceptable_recovery_lag",
    "generation_id_or_member_epoch": "generation_id",
}


@dataclass(frozen=True)
class Twin:
    """A message here and the same one in kio, at one version."""

    ours: type[Message]
    kio: type
    version: int

    def __str__(self) -> str:
        return f"{self.ours.__name__}-{self.version}"


def twins() -> Iterator[Twin]:
    keys = {name: key for key, name in api_key_map.items()}
    for name, versions in schema_name_map.items():
        for version, types in versions.items():
            for entity_type in types:
                ours: type[Message]
                if name in OTHERS:
                    ours = OTHERS[name]
                elif keys.get(name) not in API_SPECS:
                    continue
                elif entity_type is EntityType.request:
                    ours = request_class(keys[name])
                else:
                    ours = response_class(keys[name])
                yield Twin(ours, load_entity_schema(name, version, entity_type), version)


TWINS = list(twins())


def few(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@cache
def kio_fields(kio: type) -> tuple[KioField, ...]:
    return fields(kio)


def field_twins(cls: type[Message], kio: type, version: int) -> list[tuple[Field, KioField]]:
    ours = [field for field in cls.fields if version in field.versions]
    pairs = list(zip(ours, kio_fields(kio), strict=True))
    for field, twin in pairs:
        # Durations and points in time are the same field under a name without its unit.
        if RENAMED.get(field.name) != twin.name:
            assert field.name.removesuffix("_ms") == twin.name.rstrip("_").removesuffix("_ms")
        assert field.tag == get_field_tag(twin)
    return pairs


def narrowing(twin: Twin) -> dict[tuple[type[Message], str], KioField]:
    """The kio field of every field in ``twin``, with those of the structures inside."""
    found: dict[tuple[type[Message], str], KioField] = {}

    def walk(cls: type[Message], kio: type) -> None:
        for field, kio_field in field_twins(cls, kio, twin.version):
            found[cls, field.name] = kio_field
            kind = classify_field(kio_field)
            if isinstance(kind, EntityField | EntityTupleField):
                assert isinstance(field.element, type)
                walk(field.element, kind.type_)

    walk(twin.ours, twin.kio)
    return found


# What kio's richer types can hold, in our terms.
NARROWED: dict[str, st.SearchStrategy[object]] = {
    "error_code": st.sampled_from([code.value for code in ErrorCode]),
    # timedelta counts in floats when it is asked for milliseconds.
    "timedelta_i64": st.integers(-(2**40), 2**40),
    # Until the year 2286; kio reads -1 as None where a field is optional.
    "datetime_i64": st.integers(0, 10**13 - 1),
}


def messages(twin: Twin) -> st.SearchStrategy[Message]:
    known = narrowing(twin)

    def narrow(cls: type[Message], field: Field) -> st.SearchStrategy[object] | None:
        return NARROWED.get(known[cls, field.name].metadata.get("kafka_type", ""))

    return strategy(twin.ours, twin.version, narrow)


def to_kio(message: Message, kio: type, version: int) -> object:
    """The twin of ``message`` among kio's dataclasses."""
    return kio(
        **{
            twin.name: value_to_kio(getattr(message, field.name), twin, version)
            for field, twin in field_twins(type(message), kio, version)
            # A tagged structure that is absent holds its defaults there.
            if not (field.type == "structure" and field.tag is not None)
            or getattr(message, field.name) is not None
        }
    )


def value_to_kio(value: object, twin: KioField, version: int) -> object:
    kind = classify_field(twin)
    if value is None:
        return None
    if isinstance(value, list):
        if isinstance(kind, EntityTupleField):
            return tuple(to_kio(item, kind.type_, version) for item in value)
        return tuple(scalar_to_kio(item, twin) for item in value)
    if isinstance(kind, EntityField):
        assert isinstance(value, Message)
        return to_kio(value, kind.type_, version)
    return scalar_to_kio(value, twin)


def scalar_to_kio(value: object, twin: KioField) -> object:
    match twin.metadata["kafka_type"]:
        case "error_code":
            return ErrorCode(value)
        case "timedelta_i32" | "timedelta_i64":
            return timedelta(milliseconds=value)
        case "datetime_i64":
            return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=value)
        case "uuid":
            return None if value == bytes(16) and is_optional(twin) else UUID(bytes=value)
    return value


def kio_bytes(entity: object) -> bytes:
    buffer = io.BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


def assert_equal_bytes(twin: Twin, message: Message) -> None:
    ours = message.encode_bytes(twin.version)
    theirs = kio_bytes(to_kio(message, twin.kio, twin.version))
    assert ours == theirs

    # Theirs, read and written here.
    back = twin.ours.decode(theirs, twin.version)
    assert back == message
    assert back.encode_bytes(twin.version) == theirs

    # Ours, read and written there.
    entity, size = entity_reader(twin.kio)(ours, 0)
    assert size == len(ours)
    assert kio_bytes(entity) == ours


@pytest.mark.parametrize("twin", TWINS, ids=str)
@few(4)
@given(data=st.data())
def test_kio_and_kbroker_write_and_read_the_same_bytes(twin: Twin, data: st.DataObject):
    assert_equal_bytes(twin, data.draw(messages(twin)))


@pytest.mark.slow
@pytest.mark.parametrize("twin", TWINS, ids=str)
@few(30)
@given(data=st.data())
def test_kio_and_kbroker_agree_on_many_more_messages(twin: Twin, data: st.DataObject):
    assert_equal_bytes(twin, data.draw(messages(twin)))


def test_what_only_kio_has_is_listed():
    names = {name for name in schema_name_map if name not in OTHERS}
    keys = {name: key for key, name in api_key_map.items()}

    assert {name for name in names if keys.get(name) not in API_SPECS} == NOT_HERE
    compared = {(twin.ours, twin.version) for twin in TWINS}
    assert {pair_id(cls) for cls, version in compared if version not in cls.versions} == set()


def test_what_only_kbroker_has_is_listed():
    compared = {(twin.ours, twin.version) for twin in TWINS}
    missing: dict[str, set[int]] = {}
    for key, spec in API_SPECS.items():
        for cls in (request_class(key), response_class(key)):
            for version in cls.versions:
                if (cls, version) not in compared:
                    missing.setdefault(spec.name, set()).add(version)

    assert missing == NOT_IN_KIO
