"""Records and batches that several tests use."""

from kbroker.records import BatchHeader, Record, read_header
from kbroker.records.header import HEADER, compute_crc

NOW_MS = 1_750_000_000_000

RECORDS = [
    Record(0, NOW_MS, b"key", b"value"),
    Record(1, NOW_MS + 5, None, b"no key", (("trace", b"42"), ("null", None))),
    Record(2, NOW_MS - 70_000, b"no value", None),
    Record(3, NOW_MS + 1, b"", b"", (("", b""),)),
    Record(4, NOW_MS + 2, b"long", b"0123456789" * 30),
]


def with_fields(batch: bytes, **fields: int) -> bytearray:
    """The batch with header fields replaced and its CRC right again."""
    changed = bytearray(batch)
    changed[: HEADER.size] = HEADER.pack(*read_header(batch)._replace(**fields))
    changed[17:21] = compute_crc(changed, 0, len(changed)).to_bytes(4, "big")
    return changed


def shape(header: BatchHeader) -> BatchHeader:
    """The header without the fields that depend on how well a codec packs."""
    return header._replace(batch_length=0, crc=0)
