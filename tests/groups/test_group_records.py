"""Records of groups stand in the log as Kafka writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.config import BrokerConfig
from kbroker.groups import GroupRecord, GroupSettings, decode_record, encode_record
from kbroker.groups.group_records import tombstone
from kbroker.model import ZERO_UUID
from kbroker.wire import ProtocolError
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kbroker.wire.messages.legacy_offset_commit_record import LegacyOffsetCommitKey
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue

KEY = OffsetCommitKey(group="g", topic="t", partition=3)


def test_a_key_starts_with_its_type_and_a_value_with_its_version():
    value = OffsetCommitValue(offset=7, metadata="m", commit_timestamp=9)

    key_bytes, value_bytes = encode_record(GroupRecord(KEY, value, 3))

    assert key_bytes == b"\0\1" + b"\0\1g" + b"\0\1t" + b"\0\0\0\3"
    assert value_bytes == (
        b"\0\3" + (7).to_bytes(8, "big") + b"\xff\xff\xff\xff" + b"\0\1m" + (9).to_bytes(8, "big")
    )


def test_what_is_encoded_is_decoded():
    value = GroupMetadataValue(protocol_type="consumer", generation=4, protocol=None, leader=None)
    record = GroupRecord(GroupMetadataKey(group="g"), value, 3)

    assert decode_record(*encode_record(record)) == record


@given(
    offset=st.integers(0, 2**63 - 1),
    leader_epoch=st.integers(-1, 2**31 - 1),
    metadata=st.text(max_size=200),
    topic_id=st.just(ZERO_UUID) | st.binary(min_size=16, max_size=16),
)
def test_offsets_are_encoded_as_their_message_encodes_itself(**fields):
    value = OffsetCommitValue(commit_timestamp=1_700_000_000_000, **fields)

    key_bytes, value_bytes = encode_record(GroupRecord(KEY, value, 4))

    assert key_bytes == b"\0\1" + KEY.encode_bytes(0)
    assert value_bytes == b"\0\4" + value.encode_bytes(4)


def test_a_tombstone_has_no_value():
    record = tombstone(KEY)

    assert encode_record(record)[1] is None
    assert decode_record(*encode_record(record)) == record


def test_a_commit_of_kafka_0_8_has_a_type_of_its_own():
    key = LegacyOffsetCommitKey(group="g", topic="t", partition=3)

    assert encode_record(tombstone(key))[0][:2] == b"\0\0"


def test_a_type_that_nobody_knows_is_passed_over():
    assert decode_record(b"\x01\x00whatever", None) is None


@pytest.mark.parametrize("key", [b"", b"\0"])
def test_a_key_without_a_type_is_an_error(key):
    with pytest.raises(ProtocolError):
        decode_record(key, None)


def test_a_value_of_a_version_from_the_future_is_an_error():
    with pytest.raises(ProtocolError):
        decode_record(encode_record(tombstone(KEY))[0], b"\0\x63")


def test_settings_have_kafkas_defaults():
    assert GroupSettings.of(BrokerConfig.of({})) == GroupSettings()


def test_settings_follow_the_configs():
    config = BrokerConfig.of(
        {"offsets.retention.minutes": "2", "group.consumer.migration.policy": "UPGRADE"}
    )

    settings = GroupSettings.of(config)

    assert settings.offsets_retention_ms == 120_000
    assert settings.consumer_migration_policy == "upgrade"
