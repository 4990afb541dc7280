"""Every message at every version survives encoding and decoding."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbroker.model import FileSlice
from kbroker.wire.message import Message
from tests.wire.catalogue import all_messages, pair_id, strategy

FEW = settings(
    max_examples=5,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("cls", all_messages(), ids=pair_id)
@FEW
@given(data=st.data())
def test_a_message_comes_back_as_it_was_encoded(cls: type[Message], data: st.DataObject):
    for version in cls.versions:
        message = data.draw(strategy(cls, version))

        parts = message.encode(version)
        encoded = message.encode_bytes(version)
        back, position = cls.decoder(version)(encoded, 0, len(encoded))

        assert isinstance(parts[0], bytes)
        assert not any(isinstance(part, FileSlice) for part in parts)
        assert position == len(encoded)
        assert back == message
        assert back.encode_bytes(version) == encoded
