"""The last offset of each key, as compaction remembers it while it works on a log.

Kafka keeps a table of MD5 sums in a buffer of ``log.cleaner.dedupe.buffer.size`` bytes. We keep a
dict under the same limit, by what an entry costs in Python. A long key is remembered by its BLAKE2
sum: nobody can make two keys with the same one, as with MD5, and so let compaction drop a record
that is the last of its key.
"""

from hashlib import blake2b

# A dict slot, a short bytes object and an integer, with room for the dict to double.
ENTRY_BYTES = 200
# A key as long as this or longer is remembered by a sum of this length, so that no key can be
# mistaken for the sum of another.
_SUM_BYTES = 16


class OffsetMap:
    """Keys and their last offsets, up to and including ``latest_offset``.

    The limit is looked at before each batch and not within one, so that a single batch with more
    keys than fit does not stop compaction for ever.
    """

    __slots__ = ("_offsets", "capacity", "latest_offset")

    def __init__(self, memory_bytes: int) -> None:
        self.capacity = max(1, memory_bytes // ENTRY_BYTES)
        self.latest_offset = -1
        self._offsets: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def is_full(self) -> bool:
        """Whether what follows is left for the next round."""
        return len(self._offsets) >= self.capacity

    def put(self, key: bytes, offset: int) -> None:
        """Remember the record; offsets come in rising order."""
        if len(key) >= _SUM_BYTES:
            key = blake2b(key, digest_size=_SUM_BYTES).digest()
        self._offsets[key] = offset

    def supersedes(self, key: bytes, offset: int) -> bool:
        """Whether there is a later record of this key than the one at ``offset``."""
        if len(key) >= _SUM_BYTES:
            key = blake2b(key, digest_size=_SUM_BYTES).digest()
        return self._offsets.get(key, -1) > offset
