import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.records import CorruptRecords
from kbroker.records.varint import decode_varint, decode_varlong, encode_varint


@pytest.mark.parametrize(
    ("number", "encoded"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (8191, "fe7f"),
        (8192, "808001"),
        (2**31 - 1, "feffffff0f"),
        (-(2**31), "ffffffff0f"),
        (2**63 - 1, "feffffffffffffffff01"),
        (-(2**63), "ffffffffffffffffff01"),
    ],
)
def test_small_numbers_of_either_sign_are_short(number, encoded):
    assert encode_varint(number).hex() == encoded
    assert decode_varlong(bytes.fromhex(encoded), 0) == (number, len(encoded) // 2)


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_number_of_64_bits_comes_back(number):
    encoded = encode_varint(number)

    assert decode_varlong(b"xy" + encoded + b"z", 2) == (number, 2 + len(encoded))


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_number_of_32_bits_comes_back(number):
    encoded = encode_varint(number)

    assert decode_varint(encoded, 0) == (number, len(encoded))


@pytest.mark.parametrize("encoded", ["ff" * 10 + "01", "ff" * 9 + "02", "80" * 10])
def test_more_than_64_bits_are_corrupt(encoded):
    with pytest.raises(CorruptRecords):
        decode_varlong(bytes.fromhex(encoded), 0)


@pytest.mark.parametrize("encoded", ["8080808010", "808080808000"])
def test_more_than_32_bits_are_corrupt_where_32_are_due(encoded):
    with pytest.raises(CorruptRecords):
        decode_varint(bytes.fromhex(encoded), 0)


@pytest.mark.parametrize("encoded", ["", "80", "ffff", "ffffffff"])
def test_data_that_ends_inside_a_number_is_an_index_error(encoded):
    with pytest.raises(IndexError):
        decode_varint(bytes.fromhex(encoded), 0)
