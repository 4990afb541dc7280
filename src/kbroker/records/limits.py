"""How much one batch may hold, and how much memory its bytes may cost us.

Kafka limits none of this, and each has been somebody's outage (CVE-2023-34455). What a limit
refuses must be far from what real producers send.
"""

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for opening one batch.

    Records may unpack to ``max_decompressed_bytes``, and to ``max_ratio`` times their packed size.
    The ratio does not count below ``ratio_floor_bytes``: a megabyte of equal records shrinks a
    thousandfold under zstd and is honest data, and so is a record of 10 MB for those who raised
    ``max.request.size``. The floor is what a few bytes from anyone may make us allocate.
    """

    max_records: int = 1_000_000
    max_headers: int = 1_000
    max_decompressed_bytes: int = 64 * MEBIBYTE
    max_ratio: int = 100
    ratio_floor_bytes: int = 16 * MEBIBYTE

    def decompressed_bytes(self, compressed_bytes: int) -> int:
        """What ``compressed_bytes`` may unpack to."""
        by_ratio = max(self.ratio_floor_bytes, self.max_ratio * compressed_bytes)
        return min(self.max_decompressed_bytes, by_ratio)


DEFAULT_LIMITS = Limits()
