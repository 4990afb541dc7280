"""An answer as a flat table: field by field, comparable between two brokers.

    {"topics[orders].partitions[0].error_code": "NONE", ...}

Elements of a list are named by what they are about (a topic, a partition, an API), not by their
place: brokers answer in the order of their hash tables. What two healthy brokers cannot share is
replaced by what it stands for:

    topic ids, producer ids   the topic of that id; the first, second ... producer
    members that were named   the first, second ... member
    ports, cluster, session   ``<port>``, ``<cluster>``, ``<session>``
    directories and their sizes on disk, epochs of features
    timestamps                ``t0+5`` if a step wrote it, ``<now>`` if the broker did
    words for people          ``<words>``: whether there are any counts, not which
    records                   headers and a checksum of the records of each batch
"""

import hashlib
from dataclasses import dataclass, field
from typing import TypeAlias

from kbroker.model import ZERO_UUID
from kbroker.records import read_header, scan_batches
from kbroker.records.errors import RecordsError
from kbroker.records.header import HEADER_BYTES, BatchHeader
from kbroker.wire import ErrorCode, Message

Value: TypeAlias = int | float | str | None
Table: TypeAlias = dict[str, Value]

# What an element of a list is about: the first of these that it has, then the first of those.
_NAMES = ("name", "topic", "topic_name", "resource_name", "key", "feature", "log_dir", "group_id")
_NUMBERS = ("partition_index", "partition", "index", "api_key", "node_id", "broker_id")
# Lists whose order is part of the answer.
_IN_ORDER = frozenset({"synonyms", "record_errors", "replica_nodes", "isr_nodes"})

_TIMES = frozenset(
    {
        "timestamp",
        "log_append_time_ms",
        "last_timestamp",
        "base_timestamp_ms",
        "max_timestamp_ms",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
    }
)
_WORDS = frozenset({"error_message", "documentation", "batch_index_error_message"})
_MASKED = frozenset(
    {
        "total_bytes",
        "usable_bytes",
        "finalized_features_epoch",
        "log_dir",
        "replica_directory_id",
    }
)

# Brokers count rebalances in steps of their own; that there was one is what counts.
_EPOCHS = frozenset({"member_epoch", "group_epoch", "assignment_epoch"})
_MEMBERS = frozenset({"member_id", "leader"})
# Of a UUID in base64, the shorter way to write it.
_UUID_LETTERS = 22

# Steps write records of an hour before their run, minutes apart; what is younger is not theirs.
HOUR_MS = 3_600_000


@dataclass(slots=True)
class Names:
    """What one broker calls things that the other one calls otherwise."""

    port: int
    t0: int
    topics: dict[bytes, str] = field(default_factory=dict)
    producers: dict[int, int] = field(default_factory=dict)
    members: dict[str, int] = field(default_factory=dict)

    def learn(self, message: Message) -> None:
        """Remember the topic of an id from an answer that tells both."""
        topic_id = getattr(message, "topic_id", ZERO_UUID)
        name = getattr(message, "name", None)
        if name and topic_id != ZERO_UUID:
            self.topics.setdefault(topic_id, f"<id of {name}>")

    def of_topic(self, topic_id: bytes) -> str:
        """The topic of an id, also of one that is gone."""
        return "<zero>" if topic_id == ZERO_UUID else self.topics.get(topic_id, topic_id.hex())

    def of_producer(self, producer_id: int) -> Value:
        """Which producer it was, in the order in which they were seen."""
        if producer_id < 0:
            return producer_id
        number = self.producers.setdefault(producer_id, len(self.producers) + 1)
        return f"<producer {number}>"

    def of_member(self, member_id: str) -> Value:
        """Which member it was, if the broker named it: such an id is or ends with a UUID."""
        if len(member_id) < _UUID_LETTERS:
            return member_id
        number = self.members.setdefault(member_id, len(self.members) + 1)
        return f"<member {number}>"

    def of_time(self, timestamp_ms: int) -> Value:
        """A time as the distance from the run's own zero, or as now."""
        since = timestamp_ms - self.t0
        if abs(since) < HOUR_MS // 2:
            return f"t0{since:+}"
        if HOUR_MS // 2 <= since <= 2 * HOUR_MS:
            return "<now>"
        return timestamp_ms


def table_of(message: Message, version: int, names: Names) -> Table:
    """All fields that ``version`` of ``message`` has."""
    table: Table = {}
    _add_fields(table, "", message, version, names)
    return table


def _add_fields(table: Table, prefix: str, message: Message, version: int, names: Names) -> None:
    names.learn(message)
    for one in message.fields:
        if version in one.versions:
            value = getattr(message, one.name)
            _add(table, f"{prefix}{one.name}", one.name, value, version, names)


def _add(table: Table, path: str, name: str, value: object, version: int, names: Names) -> None:
    if isinstance(value, Message):
        _add_fields(table, f"{path}.", value, version, names)
    elif isinstance(value, list) and value and isinstance(value[0], Message):
        _add_list(table, path, name, value, version, names)
    elif name == "records" and value is not None:
        assert isinstance(value, bytes | bytearray | memoryview)
        _add_batches(table, path, bytes(value), names)
    else:
        table[path] = _plain(name, value, names)


def _add_list(
    table: Table, path: str, name: str, elements: list[Message], version: int, names: Names
) -> None:
    seen: dict[str, int] = {}
    for number, element in enumerate(elements):
        label = str(number) if name in _IN_ORDER else _label(element, version, names)
        seen[label] = seen.get(label, 0) + 1
        if seen[label] > 1:
            label = f"{label}#{seen[label]}"
        _add_fields(table, f"{path}[{label}].", element, version, names)


def _label(element: Message, version: int, names: Names) -> str:
    has = {
        one.name: getattr(element, one.name) for one in element.fields if version in one.versions
    }
    if "resource_type" in has:
        return f"{has['resource_type']} {has['resource_name']}"
    name = next((has[one] for one in _NAMES if has.get(one)), None)
    if name is None and has.get("topic_id", ZERO_UUID) != ZERO_UUID:
        name = names.of_topic(has["topic_id"])
    if name is not None:
        return "<directory>" if "log_dir" in has else str(name)
    if "producer_id" in has:
        return str(names.of_producer(has["producer_id"]))
    return str(next((has[one] for one in _NUMBERS if one in has), "?"))


def _plain(name: str, value: object, names: Names) -> Value:
    """One value that holds no others."""
    if name in _MASKED:
        return f"<{name}>"
    if name in _WORDS:
        return "<words>" if value else repr(value)
    if name.endswith("error_code") and isinstance(value, int):
        return ErrorCode(value).name
    if name in _TIMES and isinstance(value, int):
        return names.of_time(value)
    if name == "producer_id" and isinstance(value, int):
        return names.of_producer(value)
    if name == "topic_id" and isinstance(value, bytes):
        return names.of_topic(value)
    if name in _EPOCHS and isinstance(value, int) and value > 0:
        return "<epoch>"
    if name in _MEMBERS and isinstance(value, str):
        return names.of_member(value)
    if isinstance(value, bytes):
        return value.hex()
    if name == "port" and value == names.port:
        return "<port>"
    if name in ("cluster_id", "session_id") and value:
        return f"<{name.removesuffix('_id')}>"
    if isinstance(value, list):
        items = value if name in _IN_ORDER else sorted(value)
        return repr(items)
    assert value is None or isinstance(value, int | float | str), f"{name} is {value!r}"
    return value


def _add_batches(table: Table, path: str, data: bytes, names: Names) -> None:
    """The batches of a Fetch answer; a last one that is cut off counts by its bytes."""
    position = end = 0
    number = 0
    table[f"{path}.bytes"] = len(data)
    try:
        for number, (position, header) in enumerate(scan_batches(data)):
            end = position + header.size_bytes
            _add_header(table, f"{path}[{number}].", header, names)
            records = data[position + HEADER_BYTES : end]
            table[f"{path}[{number}].records"] = hashlib.sha256(records).hexdigest()[:16]
    except RecordsError:
        if len(data) - end >= HEADER_BYTES:
            _add_header(table, f"{path}[{number + 1}].", read_header(data, end), names)
        table[f"{path}.cut_off"] = len(data) - end


def _add_header(table: Table, prefix: str, header: BatchHeader, names: Names) -> None:
    for name, value in header._asdict().items():
        # The CRC covers what is masked here, and is right or the client would have said so.
        if name != "crc":
            table[f"{prefix}{name}"] = _plain(name, value, names)
