"""Kafka Streams counts words, and goes on counting after its state is lost."""

from collections import Counter
from pathlib import Path
from uuid import uuid4

from compat_tests.client import READ_COMMITTED, Sent
from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient
from compat_tests.java_process import running

_PROGRAM = Path(__file__).parent / "WordCount.java"
_PARTITIONS = 2
_LINES = [f"{word} to you and {word} again" for word in ("hello", "goodbye", "farewell")] * 20


class WordCountOnStage:
    """One application with its topics."""

    def __init__(self, bootstrap: str, folder: Path, guarantee: str) -> None:
        self._bootstrap = bootstrap
        self._folder = folder
        self._guarantee = guarantee
        self._client = ConfluentClient(bootstrap)
        self._admin = ConfluentAdmin(bootstrap)
        self.name = f"words-{uuid4().hex[:8]}"
        self._expected: Counter[str] = Counter()
        for topic in (f"{self.name}-lines", f"{self.name}-counts"):
            self._admin.create_topic(topic, partitions=_PARTITIONS)

    def send(self) -> None:
        """Lines to both partitions."""
        for line in _LINES:
            self._expected.update(line.split(" "))
        sent = [Sent(line.encode(), partition=n % _PARTITIONS) for n, line in enumerate(_LINES)]
        self._client.produce(f"{self.name}-lines", sent)

    def counts(self) -> dict[str, int]:
        """The last count of each word that was committed."""
        found: dict[str, int] = {}
        for partition in range(_PARTITIONS):
            _, end = self._client.watermarks(f"{self.name}-counts", partition)
            for record in self._client.consume(
                f"{self.name}-counts", end, partition=partition, isolation=READ_COMMITTED, wait_s=1
            ):
                found[record.key.decode()] = int(record.value)
        return found

    def run(self, life: str) -> None:
        """Start with an empty state directory, wait for all counts, and stop."""
        arguments = [self._bootstrap, self.name, self._guarantee, str(self._folder / life)]
        arguments += [f"{self.name}-lines", f"{self.name}-counts"]
        with running(_PROGRAM, arguments, self._folder / life) as streams:
            streams.until(lambda: self.counts() == self._expected, f"counts of {self._expected}")

    def check_topics(self) -> None:
        """Streams made its two topics, with the configs that it needs."""
        changelog = f"{self.name}-counts-changelog"
        repartition = f"{self.name}-words-repartition"
        assert {changelog, repartition} <= self._admin.topics()
        assert self._admin.topic_configs(changelog)["cleanup.policy"] == "compact"
        assert self._admin.topic_configs(repartition)["cleanup.policy"] == "delete"
        assert self._admin.topic_configs(repartition)["retention.ms"] == "-1"


def _word_count(bootstrap: str, folder: Path, guarantee: str) -> None:
    stage = WordCountOnStage(bootstrap, folder, guarantee)
    stage.send()
    stage.run("first")
    stage.check_topics()
    stage.send()
    # The state is not there any more: it is read back from the changelog, or the counts are wrong.
    stage.run("second")


def at_least_once(bootstrap: str, folder: Path) -> None:
    """Words are counted; a second run without local state restores it from the changelog."""
    _word_count(bootstrap, folder, "at_least_once")


def exactly_once(bootstrap: str, folder: Path) -> None:
    """The same with processing.guarantee=exactly_once_v2, read with read_committed."""
    _word_count(bootstrap, folder, "exactly_once_v2")
