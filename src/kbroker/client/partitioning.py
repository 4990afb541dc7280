"""Which partition a key belongs to, as the Java client decides.

Records with equal keys must meet in one partition, whoever writes them, so the hash is part of the
contract: MurmurHash2 with Kafka's seed, its sign bit dropped, modulo the number of partitions.
"""

_SEED = 0x9747B28C
_MULTIPLIER = 0x5BD1E995
_SHIFT = 24
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """MurmurHash2 of ``data`` in 32 bits without a sign."""
    length = len(data)
    whole = length & ~3
    value = _SEED ^ length
    for position in range(0, whole, 4):
        word = int.from_bytes(data[position : position + 4], "little") * _MULTIPLIER & _MASK
        word ^= word >> _SHIFT
        value = (value * _MULTIPLIER & _MASK) ^ (word * _MULTIPLIER & _MASK)
    if length > whole:
        value ^= int.from_bytes(data[whole:], "little")
        value = value * _MULTIPLIER & _MASK
    value ^= value >> 13
    value = value * _MULTIPLIER & _MASK
    return value ^ value >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """The partition, of so many, that records with ``key`` are written to."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
