import contextlib
import random
import tracemalloc
import zlib

import cramjam
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kbroker.records import (
    Compression,
    CorruptRecords,
    DecompressedTooLarge,
    Limits,
    RecordsError,
)
from kbroker.records.compression import compress, decompress
from kbroker.records.limits import MEBIBYTE

CODECS = [codec for codec in Compression if codec is not Compression.NONE]
NOISE = random.Random(1).randbytes(300_000)


@pytest.mark.parametrize("codec", Compression)
@given(data=st.binary(max_size=2000), times=st.integers(1, 200))
def test_what_was_packed_is_unpacked(codec, data, times):
    packed = compress(codec, data * times)

    assert decompress(codec, memoryview(packed)) == data * times


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("level", [1, 9])
def test_levels_are_the_codecs_own(codec, level):
    assert decompress(codec, compress(codec, NOISE, level)) == NOISE


@pytest.mark.parametrize("codec", CODECS)
def test_twelve_megabytes_of_zeros_are_honest_data(codec):
    zeros = bytes(12_000_000)

    assert decompress(codec, compress(codec, zeros)) == zeros


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_of_forty_megabytes_is_unpacked_by_default(codec):
    data = random.Random(2).randbytes(40_000_000)

    assert decompress(codec, compress(codec, data)) == data


@pytest.mark.parametrize("codec", CODECS)
def test_the_ratio_counts_above_the_floor(codec):
    packed = compress(codec, bytes(100_000))
    limits = Limits(ratio_floor_bytes=50_000, max_ratio=2)

    with pytest.raises(DecompressedTooLarge):
        decompress(codec, packed, limits)


@pytest.mark.parametrize("codec", Compression)
def test_the_absolute_limit_is_exact(codec):
    packed = compress(codec, NOISE)

    assert decompress(codec, packed, Limits(max_decompressed_bytes=len(NOISE))) == NOISE
    with pytest.raises(DecompressedTooLarge):
        decompress(codec, packed, Limits(max_decompressed_bytes=len(NOISE) - 1))


def gzip_bomb() -> bytes:
    return zlib.compress(bytes(300 * MEBIBYTE), 9, wbits=31)


def zstd_bomb() -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False).compress(bytes(300 * MEBIBYTE))


def lz4_bomb() -> bytes:
    return lz4.frame.compress(bytes(300 * MEBIBYTE), store_size=False)


def lying_zstd() -> bytes:
    """A frame of a few bytes whose header claims 2**60 bytes of content."""
    return b"\x28\xb5\x2f\xfd\xe0" + (2**60).to_bytes(8, "little") + b"\x01\x00\x00"


def lying_lz4() -> bytes:
    """A frame of a few bytes whose header claims a huge content; its checksum is right."""
    frame = lz4.frame.compress(bytes(8), store_size=True)
    assert frame[6:14] == (8).to_bytes(8, "little")
    return lz4.frame.compress(bytes(MEBIBYTE), store_size=True)[:60]


def lying_snappy() -> bytes:
    """Raw snappy whose preamble claims 4 GiB."""
    return b"\xff\xff\xff\xff\x0f" + b"abc"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("codec", "bomb"),
    [
        (Compression.GZIP, gzip_bomb),
        (Compression.ZSTD, zstd_bomb),
        (Compression.LZ4, lz4_bomb),
        (Compression.ZSTD, lying_zstd),
        (Compression.LZ4, lying_lz4),
        (Compression.SNAPPY, lying_snappy),
    ],
)
def test_a_bomb_costs_no_more_memory_than_the_limit(codec, bomb):
    packed = bomb()
    limit = 4 * MEBIBYTE
    limits = Limits(max_decompressed_bytes=limit)
    decompress(codec, compress(codec, b"load the codec"))

    tracemalloc.start()
    try:
        with pytest.raises(RecordsError):
            decompress(codec, packed, limits)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak_bytes < 2 * limit + MEBIBYTE


@pytest.mark.parametrize("codec", CODECS)
def test_input_that_ends_too_early_is_corrupt_or_short(codec):
    """Zstandard's reader does not tell; then the missing records do."""
    packed = compress(codec, NOISE)
    for length in (0, 1, 5, 10, 100, len(packed) // 2, len(packed) - 1):
        try:
            assert len(decompress(codec, packed[:length])) < len(NOISE) or length > 10
        except CorruptRecords:
            continue
        assert codec is Compression.ZSTD


@pytest.mark.parametrize("codec", CODECS)
@given(noise=st.binary(max_size=300))
def test_noise_is_corrupt_or_unpacks_to_something(codec, noise):
    with contextlib.suppress(RecordsError):
        decompress(codec, noise)


@pytest.mark.parametrize("codec", CODECS)
@given(where=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_a_changed_byte_raises_nothing_but_our_own(codec, where, byte):
    packed = bytearray(compress(codec, b"some text, and some more text, " * 40))
    packed[where % len(packed)] = byte
    with contextlib.suppress(RecordsError):
        decompress(codec, packed)


def test_gzip_members_in_a_row_are_read_as_java_reads_them():
    member = zlib.compress(b"one", wbits=31)

    assert decompress(Compression.GZIP, member + zlib.compress(b"two", wbits=31)) == b"onetwo"
    assert decompress(Compression.GZIP, member + bytes(8)) == b"one"


def test_snappy_is_read_framed_raw_and_concatenated():
    raw = bytes(cramjam.snappy.compress_raw(NOISE))
    framed = compress(Compression.SNAPPY, NOISE)

    assert framed[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    assert decompress(Compression.SNAPPY, raw) == NOISE
    assert decompress(Compression.SNAPPY, framed) == NOISE
    assert decompress(Compression.SNAPPY, framed + framed) == NOISE + NOISE


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("block_size", [lz4.frame.BLOCKSIZE_MAX64KB, lz4.frame.BLOCKSIZE_MAX4MB])
def test_every_shape_of_lz4_frame_is_read(linked, checksum, block_size):
    packed = lz4.frame.compress(
        NOISE,
        block_size=block_size,
        block_linked=linked,
        content_checksum=checksum,
        block_checksum=checksum,
        store_size=checksum,
    )

    assert decompress(Compression.LZ4, packed) == NOISE


def test_our_lz4_blocks_are_independent_for_java():
    """Java's reader refuses frames without this bit of the flags, the fifth byte."""
    assert compress(Compression.LZ4, NOISE)[4] & 0x20


@pytest.mark.parametrize("level", [1, 19, 22])
def test_zstd_is_read_from_streams_of_any_level(level):
    """A stream does not know its size, so a high level asks for its full window."""
    stream = zstandard.ZstdCompressor(level=level).compressobj()

    assert decompress(Compression.ZSTD, stream.compress(NOISE) + stream.flush()) == NOISE
