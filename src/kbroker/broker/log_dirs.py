"""What lies in the data directories of this broker, for DescribeLogDirs."""

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from kbroker.broker.partition import Partition

# Java's limit for the size of a file system, and so that of the protocol.
_MAX_LONG = 2**63 - 1


@dataclass(frozen=True, slots=True)
class DescribedLogDir:
    """One data directory, by its absolute path; ``offline`` once its disk has failed."""

    path: str
    offline: bool
    cordoned: bool
    total_bytes: int = -1
    usable_bytes: int = -1
    partitions: list[Partition] = field(default_factory=list)


def describe_log_dirs(
    paths: Iterable[str], partitions: Iterable[Partition], cordoned: Collection[str]
) -> list[DescribedLogDir]:
    """Every directory of ``paths`` with those of ``partitions`` that lie in it.

    ``cordoned`` are the directories that get no new partitions (KIP-1066), ``*`` all of them.
    """
    everywhere = "*" in cordoned
    barred = {os.path.abspath(path) for path in cordoned}
    inside: dict[str, list[Partition]] = {os.path.abspath(path): [] for path in paths}
    for partition in partitions:
        inside[os.path.dirname(os.path.abspath(partition.log.directory))].append(partition)
    return [
        _described(path, found, cordoned=everywhere or path in barred)
        for path, found in inside.items()
    ]


def _described(path: str, partitions: list[Partition], *, cordoned: bool) -> DescribedLogDir:
    if any(partition.offline for partition in partitions):
        return DescribedLogDir(path, offline=True, cordoned=cordoned)
    try:
        space = os.statvfs(path)
    except OSError:
        return DescribedLogDir(path, offline=True, cordoned=cordoned)
    return DescribedLogDir(
        path,
        offline=False,
        cordoned=cordoned,
        total_bytes=min(space.f_blocks * space.f_frsize, _MAX_LONG),
        usable_bytes=min(space.f_bavail * space.f_frsize, _MAX_LONG),
        partitions=partitions,
    )
