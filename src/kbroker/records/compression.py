"""The four codecs of a batch, bounded, each loaded when first needed.

Every function takes and gives whole payloads: a batch is packed as one piece. Unpacking stops as
soon as the output exceeds its limit (`Limits.decompressed_bytes`), and never allocates by a size
that only the input claims. What a codec does with broken input ends as CorruptRecords.

What clients write, and what we therefore read and write:

    gzip    a gzip member; Java reads several in a row, so do we
    snappy  Java: xerial's frame (magic, then length and raw block of up to 32 KiB, again and
            again); librdkafka and others: one raw block. Both are read, the frame is written
    lz4     an lz4 frame. Java reads only independent blocks, so we write those; librdkafka
            writes other block sizes and checksums, all of which liblz4 reads
    zstd    a zstd frame, usually without its content size, since producers stream
"""

import zlib
from collections.abc import Callable
from struct import Struct

from kbroker.records.errors import CorruptRecords, DecompressedTooLarge
from kbroker.records.header import Buffer, Compression
from kbroker.records.limits import DEFAULT_LIMITS, Limits

_GZIP_WINDOW_BITS = 31  # the largest window (15), and 16 for gzip's own header

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
# Version and lowest compatible version, as the frame of snappy-java has had them ever since.
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK_BYTES = 32 * 1024
_BLOCK_LENGTH = Struct(">i")
# Snappy's densest element copies 64 bytes for 3.
_SNAPPY_MAX_RATIO = 22

_ZSTD_DEFAULT_LEVEL = 3  # Kafka's own default, `compression.zstd.level`

# Output is collected in pieces that grow from this size, so that small batches stay cheap and
# large ones take few steps.
_FIRST_PIECE_BYTES = 64 * 1024
_LARGEST_PIECE_BYTES = 4 * 1024 * 1024


def decompress(compression: Compression, packed: Buffer, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """What ``packed`` unpacks to; raises CorruptRecords or DecompressedTooLarge."""
    limit_bytes = limits.decompressed_bytes(len(packed))
    return _DECOMPRESS[compression](packed, limit_bytes)


def compress(compression: Compression, data: Buffer, level: int | None = None) -> bytes:
    """``data``, packed; ``level`` is the codec's own and means nothing to snappy."""
    return _COMPRESS[compression](data, level)


class _Pieces:
    """Collects output and knows how much more may come."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._pieces: list[bytes] = []
        self._size_bytes = 0

    def next_bytes(self) -> int:
        """How much to ask for next: never more than one byte over the limit."""
        wanted = max(_FIRST_PIECE_BYTES, min(self._size_bytes, _LARGEST_PIECE_BYTES))
        return min(wanted, self._limit_bytes - self._size_bytes + 1)

    def add(self, piece: bytes) -> None:
        self._size_bytes += len(piece)
        if self._size_bytes > self._limit_bytes:
            raise DecompressedTooLarge(f"a batch unpacks to more than {self._limit_bytes} bytes")
        self._pieces.append(piece)

    def joined(self) -> bytes:
        return b"".join(self._pieces) if len(self._pieces) != 1 else self._pieces[0]


def _decompress_nothing(packed: Buffer, limit_bytes: int) -> bytes:
    if len(packed) > limit_bytes:
        raise DecompressedTooLarge(f"a batch holds more than {limit_bytes} bytes")
    return bytes(packed)


def _compress_nothing(data: Buffer, level: int | None) -> bytes:  # noqa: ARG001
    return bytes(data)


# gzip


def _decompress_gzip(packed: Buffer, limit_bytes: int) -> bytes:
    pieces = _Pieces(limit_bytes)
    rest: Buffer = packed
    try:
        while True:
            member = zlib.decompressobj(_GZIP_WINDOW_BITS)
            while not member.eof:
                piece = member.decompress(rest, pieces.next_bytes())
                pieces.add(piece)
                rest = member.unconsumed_tail
                if not piece and not rest and not member.eof:
                    raise CorruptRecords("gzip: the data ends too early")
            rest = member.unused_data
            # As Java does, take what follows as another member only if it begins like one.
            if rest[:2] != b"\x1f\x8b":
                return pieces.joined()
    except zlib.error as error:
        raise CorruptRecords(f"gzip: {error}") from None


def _compress_gzip(data: Buffer, level: int | None) -> bytes:
    return zlib.compress(data, -1 if level is None else level, wbits=_GZIP_WINDOW_BITS)


# snappy


def _decompress_snappy(packed: Buffer, limit_bytes: int) -> bytes:
    pieces = _Pieces(limit_bytes)
    view = memoryview(packed)
    if view[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        _add_snappy_block(view, limit_bytes, pieces)
        return pieces.joined()
    position = 0
    end = len(view)
    while position < end:
        # Frames may be concatenated; a header in the place of a length starts the next one.
        if view[position : position + len(_XERIAL_MAGIC)] == _XERIAL_MAGIC:
            position += len(_XERIAL_HEADER)
            if position > end:
                raise CorruptRecords("snappy: the data ends inside a frame header")
            continue
        block_start = position + _BLOCK_LENGTH.size
        if block_start > end:
            raise CorruptRecords("snappy: the data ends inside a block length")
        (length,) = _BLOCK_LENGTH.unpack_from(view, position)
        position = block_start + length
        if length < 1 or position > end:
            raise CorruptRecords(f"snappy: a block of {length} bytes")
        _add_snappy_block(view[block_start:position], limit_bytes, pieces)
    return pieces.joined()


def _add_snappy_block(block: memoryview, limit_bytes: int, pieces: _Pieces) -> None:
    import cramjam

    if not block:
        raise CorruptRecords("snappy: a block without a byte")
    try:
        claimed_bytes = cramjam.snappy.decompress_raw_len(block)
        # Its output is allocated by this claim, so it is looked at first.
        if claimed_bytes > _SNAPPY_MAX_RATIO * len(block):
            raise CorruptRecords(f"snappy: {claimed_bytes} bytes cannot come from {len(block)}")
        if claimed_bytes > limit_bytes:
            raise DecompressedTooLarge(f"a batch unpacks to more than {limit_bytes} bytes")
        pieces.add(bytes(cramjam.snappy.decompress_raw(block)))
    except cramjam.DecompressionError as error:
        raise CorruptRecords(f"snappy: {error}") from None


def _compress_snappy(data: Buffer, level: int | None) -> bytes:  # noqa: ARG001
    import cramjam

    view = memoryview(data)
    pieces = [_XERIAL_HEADER]
    for position in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = cramjam.snappy.compress_raw(view[position : position + _XERIAL_BLOCK_BYTES])
        pieces.append(_BLOCK_LENGTH.pack(len(block)))
        pieces.append(bytes(block))
    return b"".join(pieces)


# lz4


def _decompress_lz4(packed: Buffer, limit_bytes: int) -> bytes:
    import lz4.frame

    pieces = _Pieces(limit_bytes)
    frame = lz4.frame.LZ4FrameDecompressor()
    rest: Buffer = packed
    try:
        while not frame.eof:
            if frame.needs_input and not len(rest):
                raise CorruptRecords("lz4: the data ends too early")
            pieces.add(frame.decompress(rest, pieces.next_bytes()))
            rest = b""  # it keeps what it has not used yet
    except RuntimeError as error:
        raise CorruptRecords(f"lz4: {error}") from None
    return pieces.joined()


def _compress_lz4(data: Buffer, level: int | None) -> bytes:
    import lz4.frame

    packed: bytes = lz4.frame.compress(
        data,
        compression_level=0 if level is None else level,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,  # as Java's producer
        block_linked=False,
        store_size=False,
    )
    return packed


# zstd


def _decompress_zstd(packed: Buffer, limit_bytes: int) -> bytes:
    import zstandard

    pieces = _Pieces(limit_bytes)
    # The window a frame asks for is reserved, up to 128 MiB, but only touched as far as output
    # comes, and that is bounded; refusing large windows would refuse producers on high levels.
    # A frame that is cut off just ends early here; the records then missing tell.
    reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    try:
        while piece := reader.read(pieces.next_bytes()):
            pieces.add(piece)
    except zstandard.ZstdError as error:
        raise CorruptRecords(f"zstd: {error}") from None
    return pieces.joined()


def _compress_zstd(data: Buffer, level: int | None) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(_ZSTD_DEFAULT_LEVEL if level is None else level).compress(data)


_DECOMPRESS: dict[Compression, Callable[[Buffer, int], bytes]] = {
    Compression.NONE: _decompress_nothing,
    Compression.GZIP: _decompress_gzip,
    Compression.SNAPPY: _decompress_snappy,
    Compression.LZ4: _decompress_lz4,
    Compression.ZSTD: _decompress_zstd,
}
_COMPRESS: dict[Compression, Callable[[Buffer, int | None], bytes]] = {
    Compression.NONE: _compress_nothing,
    Compression.GZIP: _compress_gzip,
    Compression.SNAPPY: _compress_snappy,
    Compression.LZ4: _compress_lz4,
    Compression.ZSTD: _compress_zstd,
}
