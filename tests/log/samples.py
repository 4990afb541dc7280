"""Logs and batches that several tests use."""

from dataclasses import replace
from pathlib import Path

from kbroker.config import BrokerConfig, TopicConfig
from kbroker.log import PartitionLog
from kbroker.log.disk import REAL_DISK, Disk
from kbroker.model import FileSlice, TopicPartition, Uuid
from kbroker.records import BatchHeader, Record, build_batch, build_marker_batch, scan_batches

NOW_MS = 1_750_000_000_000
TOPIC_ID = Uuid(bytes(range(16)))
ORDERS = TopicPartition("orders", 3)


class FastDisk(Disk):
    """The real file system, but nothing is brought to the platter: for tests with many logs."""

    __slots__ = ()

    def sync(self, file_descriptor: int) -> None:
        pass


FAST_DISK = FastDisk()
DEFAULTS = TopicConfig.of(BrokerConfig.of({}), {})


def topic_config(**changes: object) -> TopicConfig:
    return replace(DEFAULTS, **changes)


def open_log(
    directory: Path,
    *,
    config: TopicConfig = DEFAULTS,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    clean: bool = True,
    now_ms: int = NOW_MS,
    disk: Disk = FAST_DISK,
) -> PartitionLog:
    return PartitionLog.open(
        str(directory / "orders-3"),
        topic_partition=ORDERS,
        topic_id=TOPIC_ID,
        config=config,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
        clean=clean,
        now_ms=now_ms,
        disk=disk,
    )


def batch(*values: bytes, timestamp_ms: int = NOW_MS, key: bytes | None = None, **fields: object):
    """A batch as a producer sends it; one record per value."""
    records = [Record(n, timestamp_ms, key, value) for n, value in enumerate(values or (b"v",))]
    return build_batch(records, **fields)


def idempotent(sequence: int, *values: bytes, producer_id: int = 7, epoch: int = 0, **fields):
    """A batch of an idempotent producer."""
    return batch(
        *values, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, **fields
    )


def marker(*, committed: bool, producer_id: int = 7, epoch: int = 0, coordinator_epoch: int = 0):
    return build_marker_batch(
        producer_id=producer_id,
        producer_epoch=epoch,
        committed=committed,
        coordinator_epoch=coordinator_epoch,
        timestamp_ms=NOW_MS,
    )


def append(log: PartitionLog, *batches: bytearray, now_ms: int = NOW_MS, epoch: int = 0):
    """Append batches of clients one by one; what came back for the last."""
    for one in batches:
        appended = log.append(one, leader_epoch=epoch, now_ms=now_ms)
    return appended


def append_marker(log: PartitionLog, **fields):
    return log.append(marker(**fields), leader_epoch=0, now_ms=NOW_MS, from_client=False)


def content(file_slice: FileSlice | None) -> bytes:
    if file_slice is None:
        return b""
    return REAL_DISK.read(file_slice.file_descriptor, file_slice.length, file_slice.position)


def read_all(log: PartitionLog, offset: int | None = None) -> list[BatchHeader]:
    """The headers of all batches from an offset to the log end."""
    headers: list[BatchHeader] = []
    offset = log.log_start_offset if offset is None else offset
    while True:
        data = content(log.read(offset, 1 << 20, up_to=log.log_end_offset))
        if not data:
            return headers
        headers += [header for _, header in scan_batches(data)]
        offset = headers[-1].next_offset


def offsets(log: PartitionLog) -> list[tuple[int, int]]:
    """First and last offset of all batches."""
    return [(header.base_offset, header.last_offset) for header in read_all(log)]
