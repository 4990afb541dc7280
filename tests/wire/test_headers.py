"""Request headers and frames."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.model import FileSlice
from kbroker.wire.api_keys import ApiKey
from kbroker.wire.apis import (
    API_SPECS,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from kbroker.wire.errors import ProtocolError
from kbroker.wire.headers import (
    RequestHeader,
    UnknownApiError,
    decode_request_header,
    decode_response,
    encode_request_frame,
    encode_response_frame,
    frame_bytes,
)
from kbroker.wire.messages import headers as generated
from kbroker.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kbroker.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kbroker.wire.messages.metadata import MetadataRequest, MetadataResponse

PAIRS = [(key, version) for key, spec in API_SPECS.items() for version in spec.versions]


@given(
    st.sampled_from(PAIRS),
    st.integers(-(2**31), 2**31 - 1),
    st.none() | st.text(st.characters(codec="utf-8"), max_size=20),
)
def test_the_header_is_the_one_of_the_definitions(
    pair: tuple[int, int], correlation_id: int, client_id: str | None
):
    key, version = pair
    header = generated.RequestHeader(
        request_api_key=key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    encoded = b"frame" + header.encode_bytes(request_header_version(key, version))
    assert decode_request_header(encoded + b"body", 5, len(encoded) + 4) == RequestHeader(
        key, version, correlation_id, client_id, len(encoded)
    )


def test_every_truncated_header_is_refused_even_if_other_bytes_follow():
    encoded = struct.pack(">hhih", ApiKey.METADATA, 12, 1, 2) + b"id" + b"\x01\x05\x01x"
    assert decode_request_header(encoded, 0, len(encoded)).client_id == "id"
    for length in range(len(encoded)):
        with pytest.raises(ProtocolError):
            decode_request_header(encoded[:length], 0, length)
        with pytest.raises(ProtocolError):
            decode_request_header(encoded + bytes(20), 0, length)


def test_an_unknown_api_is_told_apart():
    with pytest.raises(UnknownApiError, match="no API 9999"):
        decode_request_header(struct.pack(">hhih", 9999, 0, 1, -1), 0, 10)


def test_the_header_of_an_api_versions_request_of_the_future_is_readable():
    """KIP-511: the broker must answer it, with version 0."""
    encoded = struct.pack(">hhih", ApiKey.API_VERSIONS, 99, 5, -1) + b"\x00" + b"future"
    header = decode_request_header(encoded, 0, len(encoded))
    assert header == RequestHeader(ApiKey.API_VERSIONS, 99, 5, None, 11)


@pytest.mark.parametrize(("key", "version"), PAIRS)
def test_requests_and_responses_come_back_from_their_frames(key: int, version: int):
    request, response = request_class(key)(), response_class(key)()

    frame = b"".join(encode_request_frame(5, "client", request, version))
    assert struct.unpack_from(">i", frame) == (len(frame) - 4,)
    header = decode_request_header(frame, 4, len(frame))
    assert header[:4] == (key, version, 5, "client")
    assert request_class(key).decode(frame, version, header.body) == request

    frame = b"".join(encode_response_frame(5, response, version))
    assert struct.unpack_from(">ii", frame) == (len(frame) - 4, 5)
    start = 8 + response_header_version(key, version)
    assert response_class(key).decode(frame, version, start) == response
    assert decode_response(response_class(key), version, frame, 4, len(frame)) == (5, response)


def test_an_api_versions_response_never_has_tags_in_its_header():
    (frame,) = encode_response_frame(1, ApiVersionsResponse(), 3)
    body = ApiVersionsResponse().encode_bytes(3)
    assert frame == struct.pack(">ii", 4 + len(body), 1) + body


def test_a_request_without_client_id_says_null():
    frame = b"".join(encode_request_frame(1, None, ApiVersionsRequest(), 0))
    assert frame == struct.pack(">ihhih", 10, ApiKey.API_VERSIONS, 0, 1, -1)


def test_the_length_of_a_frame_counts_its_file_slices():
    slice_ = FileSlice(file_descriptor=3, position=0, length=1_000_000)
    partition = PartitionData(partition_index=1, records=slice_)
    response = FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])

    parts = encode_response_frame(7, response, 16)

    assert parts[1] is slice_
    assert struct.unpack_from(">i", parts[0]) == (sum(map(len, parts)) - 4,)
    assert frame_bytes(parts) == sum(map(len, parts))


def test_a_truncated_response_is_refused():
    frame = b"".join(encode_response_frame(1, MetadataResponse(), 12))
    for length in range(4, len(frame)):
        with pytest.raises(ProtocolError):
            decode_response(MetadataResponse, 12, frame, 4, length)


def test_a_client_id_that_is_too_long_is_an_error():
    with pytest.raises(struct.error):
        encode_request_frame(1, "c" * 40_000, MetadataRequest(), 0)
