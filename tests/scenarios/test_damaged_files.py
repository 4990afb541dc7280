"""Files that were damaged while the broker was down: it starts, and serves a sound prefix (L3, L5).

One broker writes to a partition, is stopped and started, which makes the first half safe, writes
more and is killed. Each test takes a copy of what it left, spoils something and starts a broker on
it. What was made safe must be there, what is there must be what was written, and writing goes on.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tools.apache_kafka import run_java

from kbroker.client.connection import Connection
from kbroker.records import Record, build_batch, iterate_records, scan_batches
from kbroker.wire.error_codes import ErrorCode
from tests.broker.conversation import TIMESTAMP_MS, Conversation, data_of
from tests.scenarios.broker_process import BrokerProcess

pytestmark = pytest.mark.slow

TOPIC = "damaged"
OTHER = "other"
SAFE = 40  # batches below the recovery point
ALL = 80
PAGE_BYTES = 4096


@contextmanager
def talk_to(broker: BrokerProcess) -> Iterator[Conversation]:
    with Connection(broker.host, broker.port, client_id="tests") as connection:
        yield Conversation(connection)


def value(number: int) -> bytes:
    return b"%d " % number + b"." * 1000


def write(talk: Conversation, first: int, end: int, topic: str = TOPIC) -> None:
    """One batch of one record for each number, at the offset of that number."""
    for number in range(first, end):
        record = Record(0, TIMESTAMP_MS + number, b"key", value(number))
        data = build_batch([record], producer_id=7, producer_epoch=0, base_sequence=number)
        answer = talk.produce(topic, data)
        assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, number)


def read(talk: Conversation, topic: str = TOPIC) -> list[bytes]:
    """All values of the partition; the offsets must be 0, 1, 2 and so on."""
    values: list[bytes] = []
    while True:
        answer = talk.fetch({(topic, 0): len(values)}, partition_max_bytes=1 << 24)
        data = data_of(answer)[topic, 0]
        assert data.error_code == ErrorCode.NONE
        if not data.records:
            assert data.high_watermark == len(values)
            return values
        records = bytes(data.records)
        for position, header in scan_batches(records):
            for record in iterate_records(records, header, position):
                assert record.offset == len(values)
                values.append(record.value or b"")


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a killed broker: batches below SAFE are flushed and checkpointed, others not."""
    broker = BrokerProcess(tmp_path_factory.mktemp("left-behind"))
    broker.start()
    with talk_to(broker) as talk:
        talk.create_topic(TOPIC)
        talk.create_topic(OTHER)
        write(talk, 0, SAFE)
        write(talk, 0, 3, topic=OTHER)
    broker.stop()
    broker.start()
    with talk_to(broker) as talk:
        write(talk, SAFE, ALL)
    broker.kill()
    return broker.data_dir


@pytest.fixture
def broker(left_behind: Path, tmp_path: Path) -> Iterator[BrokerProcess]:
    """A broker that is not started yet, on a copy of that data."""
    shutil.copytree(left_behind, tmp_path / "data")
    made = BrokerProcess(tmp_path)
    yield made
    made.kill()


def check_served(broker: BrokerProcess, *, at_least: int) -> int:
    """Start it; gives how many batches were kept."""
    broker.start()
    with talk_to(broker) as talk:
        kept = read(talk)
        assert at_least <= len(kept) <= ALL
        assert kept == [value(number) for number in range(len(kept))]
        write(talk, len(kept), len(kept) + 5)
        assert len(read(talk)) == len(kept) + 5
        assert len(read(talk, OTHER)) == 3
    assert "Traceback" not in broker.stderr
    broker.stop()
    return len(kept)


def log_file(directory: Path) -> Path:
    [path] = directory.glob("*.log")
    return path


def batch_starts(data: bytes) -> list[int]:
    return [position for position, _ in scan_batches(data)]


# What may happen to the unflushed end of a log: how many batches are left for certain.


def tear_the_last_batch(path: Path) -> int:
    data = path.read_bytes()
    path.write_bytes(data[: batch_starts(data)[-1] + 100])
    return ALL - 1


def tear_inside_a_header(path: Path) -> int:
    data = path.read_bytes()
    path.write_bytes(data[: batch_starts(data)[-1] + 20])
    return ALL - 1


def append_a_byte(path: Path) -> int:
    path.write_bytes(path.read_bytes() + b"\x00")
    return ALL


def append_noise(path: Path) -> int:
    path.write_bytes(path.read_bytes() + random.Random(5).randbytes(64 * 1024))
    return ALL


def append_zeros(path: Path) -> int:
    path.write_bytes(path.read_bytes() + bytes(64 * 1024))
    return ALL


def append_an_old_batch(path: Path) -> int:
    """Sound in itself, with a CRC that matches, but its offset is taken."""
    data = path.read_bytes()
    path.write_bytes(data + data[: batch_starts(data)[1]])
    return ALL


def zero_a_page(path: Path) -> int:
    data = bytearray(path.read_bytes())
    start = batch_starts(bytes(data))[SAFE + 10]
    data[start + 100 : start + 100 + PAGE_BYTES] = bytes(PAGE_BYTES)
    path.write_bytes(data)
    return SAFE + 10


def flip_a_bit(path: Path) -> int:
    data = bytearray(path.read_bytes())
    data[batch_starts(bytes(data))[SAFE + 20] + 500] ^= 4
    path.write_bytes(data)
    return SAFE + 20


TAILS = [
    tear_the_last_batch,
    tear_inside_a_header,
    append_a_byte,
    append_noise,
    append_zeros,
    append_an_old_batch,
    zero_a_page,
    flip_a_bit,
]


@pytest.mark.parametrize("damage", TAILS)
def test_a_damaged_tail_is_cut_and_all_before_it_is_served(
    broker: BrokerProcess, damage: Callable[[Path], int]
):
    """L3."""
    left = damage(log_file(broker.partition_dir(TOPIC)))
    assert check_served(broker, at_least=left) == left


SIDE_FILES = [
    "00000000000000000000.index",
    "00000000000000000000.timeindex",
    "00000000000000000000.txnindex",
    f"{SAFE:020}.snapshot",
    "leader-epoch-checkpoint",
]


@pytest.mark.parametrize("change", ["missing", "empty", "cut", "noise"])
@pytest.mark.parametrize("name", SIDE_FILES)
def test_a_file_beside_the_log_can_be_damaged(broker: BrokerProcess, name: str, change: str):
    """L3, L5: all of them follow from the batches, so all batches are served."""
    spoil(broker.partition_dir(TOPIC) / name, change)
    assert check_served(broker, at_least=ALL) == ALL


@pytest.mark.parametrize("change", ["missing", "empty", "cut", "noise"])
@pytest.mark.parametrize(
    "name",
    [
        "recovery-point-offset-checkpoint",
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
    ],
)
def test_a_checkpoint_of_the_data_directory_can_be_damaged(
    broker: BrokerProcess, name: str, change: str
):
    """Without a recovery point everything is checked; nothing is lost."""
    assert (broker.data_dir / name).exists()
    spoil(broker.data_dir / name, change)
    assert check_served(broker, at_least=ALL) == ALL


def spoil(path: Path, change: str) -> None:
    data = path.read_bytes() if path.exists() else b""
    match change:
        case "missing":
            path.unlink(missing_ok=True)
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[: len(data) // 2 + 1])
        case "noise":
            path.write_bytes(random.Random(9).randbytes(99))


def test_all_files_but_the_log_can_be_missing(broker: BrokerProcess):
    for path in broker.partition_dir(TOPIC).iterdir():
        if path.suffix != ".log" and path.name != "partition.metadata":
            path.unlink()
    for path in broker.data_dir.glob("*-checkpoint"):
        path.unlink()
    assert check_served(broker, at_least=ALL) == ALL


def test_a_flipped_bit_below_the_recovery_point_does_not_keep_the_broker_from_serving(
    broker: BrokerProcess,
):
    """What was flushed is not read again at a start, so a bit that rots there is not found then.

    The broker starts and serves all other batches and partitions. A fetch sends the bytes as they
    lie (sendfile), as Kafka's does; clients find out by the CRC, which they check. Nothing is cut
    off: in a cluster, another replica may have the batch (L7).
    """
    path = log_file(broker.partition_dir(TOPIC))
    data = bytearray(path.read_bytes())
    data[batch_starts(bytes(data))[10] + 500] ^= 1
    path.write_bytes(data)
    broker.start()
    with talk_to(broker) as talk:
        assert len(read(talk, OTHER)) == 3
        values = read(talk)
        expected = [value(number) for number in range(ALL)]
        assert [number for number in range(ALL) if values[number] != expected[number]] == [10]
        write(talk, ALL, ALL + 1)
    broker.stop()


@pytest.mark.java
@pytest.mark.parametrize("damage", [append_noise, zero_a_page, append_an_old_batch])
def test_kafka_has_no_complaint_about_a_mended_log(
    broker: BrokerProcess, damage: Callable[[Path], int]
):
    path = log_file(broker.partition_dir(TOPIC))
    left = damage(path)
    for kind in ("index", "timeindex"):
        path.with_suffix(f".{kind}").unlink(missing_ok=True)
    check_served(broker, at_least=left)
    for kind in ("log", "index", "timeindex"):
        words = run_java(
            "org.apache.kafka.tools.DumpLogSegments",
            *("--files", str(path.with_suffix(f".{kind}")), "--deep-iteration"),
        ).decode()
        for complaint in ("Mismatches", "not sequential", "invalid", "Exception", "Non-consec"):
            assert complaint not in words
    assert f"offset: {left + 4}" in words_of(path)


def words_of(path: Path) -> str:
    return run_java(
        "org.apache.kafka.tools.DumpLogSegments", "--files", str(path), "--deep-iteration"
    ).decode()
