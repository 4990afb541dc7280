import pytest
from aiokafka.partitioner import murmur2 as other_murmur2
from hypothesis import given
from hypothesis import strategies as st

from kbroker.client.partitioning import murmur2, partition_of


def signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number


# Kafka's own tests pin these (UtilsTest.testMurmur2).
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_that_of_the_java_client(key, expected):
    assert signed(murmur2(key)) == expected


@given(st.binary(max_size=70))
def test_the_hash_is_that_of_aiokafka(key):
    assert murmur2(key) == other_murmur2(key) & 0xFFFFFFFF


@given(st.binary(max_size=20), st.integers(1, 1000))
def test_the_partition_exists(key, partitions):
    assert 0 <= partition_of(key, partitions) < partitions
