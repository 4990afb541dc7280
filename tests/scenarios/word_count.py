"""A word count of Kafka Streams with exactly_once_v2, while it and the broker are killed.

Every new count is written to a topic. A reader of committed records must see, for each word, the
numbers from 1 to the true count, each once and in their order: a line that was processed twice
would skip one or repeat one, a line that was lost would leave the last one short.

    python -m tests.scenarios.word_count [--lines 2000] [--rounds 5] [--kafka]
"""

import argparse
import random
import subprocess
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tools.apache_kafka import ApacheKafka, class_path

from tests.scenarios.broker_process import BrokerProcess
from tests.scenarios.copying import StoppableBroker

LINES, COUNTS = "lines", "counts"
PARTITIONS = 2
WORDS = ("a", "rose", "is", "by", "any", "other", "name")
_WORDS_PER_LINE = 5
_WAIT_S = 120.0


class Application:
    """The program, in one of its lives; its state directory outlives it."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        source = Path(__file__).with_name("WordCount.java")
        command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", class_path(), str(source), bootstrap, str(folder / "state")]
        self._said = folder / "streams.txt"
        with self._said.open("ab") as said:
            self._process = subprocess.Popen(command, stdout=said, stderr=said)

    @property
    def words(self) -> str:
        return self._said.read_text(errors="replace")[-3000:]

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """SIGKILL: the state on disk is not what was committed, and is thrown away."""
        self._process.kill()
        self._process.wait()

    def terminate(self) -> None:
        """SIGTERM."""
        self._process.terminate()
        self._process.wait(60)


class Counts:
    """A reader of committed counts, which lives through everything."""

    def __init__(self, bootstrap: str) -> None:
        self.seen: dict[str, list[int]] = defaultdict(list)
        self.total = 0
        self._bootstrap = bootstrap
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read, name="counts")
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _read(self) -> None:
        configs = {
            "bootstrap.servers": self._bootstrap,
            "group.id": "unused",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "reconnect.backoff.max.ms": 100,
            "log_level": 0,
        }
        with closing(Consumer(configs)) as consumer:
            consumer.assign([TopicPartition(COUNTS, number, 0) for number in range(PARTITIONS)])
            while not self._stopping.is_set():
                for message in consumer.consume(1000, 0.1):
                    if message.error() is None:
                        word = message.key().decode()
                        self.seen[word].append(int.from_bytes(message.value(), "big"))
                        self.total += 1


def write_lines(bootstrap: str, count: int, dice: random.Random) -> Counter[str]:
    """Write random lines; what their words must come to."""
    truth: Counter[str] = Counter()
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number in range(count):
        words = dice.choices(WORDS, k=_WORDS_PER_LINE)
        truth.update(words)
        producer.produce(LINES, " ".join(words).encode(), partition=number % PARTITIONS)
    assert producer.flush(60) == 0
    return truth


def count_under_fire(
    broker: StoppableBroker, lines: int, rounds: int, folder: Path, dice: random.Random
) -> None:
    """Count while both are killed in turns; AssertionError if a count is not exact."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    topics = [NewTopic(name, PARTITIONS, 1) for name in (LINES, COUNTS)]
    for created in admin.create_topics(topics).values():
        created.result(30)
    blows = ["kill streams", "kill broker"] * rounds
    share = lines // (len(blows) + 1)
    truth: Counter[str] = Counter()
    counts = Counts(broker.bootstrap)
    application = Application(broker.bootstrap, folder)
    try:
        for blow in [*blows, ""]:
            before = counts.total
            truth += write_lines(broker.bootstrap, share, dice)
            _wait(application, counts, before + 1)  # it is in the middle of it
            if blow == "kill streams":
                application.kill()
                application = Application(broker.bootstrap, folder)
            elif blow == "kill broker":
                broker.kill()
                broker.start()
        _wait(application, counts, truth.total())
        application.terminate()
        time.sleep(0.5)  # for what should not come
    finally:
        application.kill()
        counts.stop()
    expected = {word: list(range(1, count + 1)) for word, count in truth.items()}
    assert counts.seen == expected, _difference(counts.seen, expected)


def _wait(application: Application, counts: Counts, total: int) -> None:
    deadline = time.monotonic() + _WAIT_S
    while counts.total < total:
        assert application.is_running, f"Streams ended by itself:\n{application.words}"
        assert time.monotonic() < deadline, f"{counts.total} of {total}:\n{application.words}"
        time.sleep(0.02)


def _difference(seen: dict[str, list[int]], expected: dict[str, list[int]]) -> str:
    for word, numbers in expected.items():
        for position, (found, wanted) in enumerate(zip(seen[word], numbers, strict=False)):
            if found != wanted:
                return f"{word}: {found} instead of {wanted} at {position}"
    return f"{ {word: len(numbers) for word, numbers in seen.items()} }"


def main(arguments: Sequence[str] | None = None) -> None:
    """The long form, with the seed that repeats it."""
    parser = argparse.ArgumentParser(prog="python -m tests.scenarios.word_count")
    parser.add_argument("--lines", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kafka", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}")
    began_at = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        started: AbstractContextManager[StoppableBroker]
        started = ApacheKafka() if options.kafka else BrokerProcess(Path(folder))
        with started as broker:
            dice = random.Random(options.seed)
            count_under_fire(broker, options.lines, options.rounds, Path(folder), dice)
    print(f"all counts are exact, {time.monotonic() - began_at:.0f} s")


if __name__ == "__main__":
    main()
