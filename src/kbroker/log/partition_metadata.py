"""The ``partition.metadata`` file: the id of the topic a directory belongs to.

A topic that was deleted and created again has the same name and another id; the file keeps its
records apart. It is written before the first record.
"""

from kbroker.log.disk import Disk
from kbroker.log.errors import CorruptLog
from kbroker.log.file_names import PARTITION_METADATA
from kbroker.model import Uuid, uuid_from_text, uuid_to_text

_VERSION = "0"


def write_partition_metadata(disk: Disk, directory: str, topic_id: Uuid) -> None:
    """Write the file anew; a crash leaves all of it or nothing.

    Its name is safe when the directory is synced, which the first segment of a log waits for.
    """
    text = f"version: {_VERSION}\ntopic_id: {uuid_to_text(topic_id)}"
    path = f"{directory}/{PARTITION_METADATA}"
    disk.write_file(path + ".tmp", text.encode(), sync=True)
    disk.rename(path + ".tmp", path)


def read_partition_metadata(disk: Disk, directory: str) -> Uuid | None:
    """The topic id, or None if there is no file; CorruptLog if it says something else."""
    path = f"{directory}/{PARTITION_METADATA}"
    try:
        text = disk.read_file(path).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    try:
        if fields.get("version") != _VERSION:
            raise ValueError(f"version {fields.get('version')}")
        return uuid_from_text(fields.get("topic_id", ""))
    except ValueError as error:
        raise CorruptLog(f"{path}: {error}") from error
