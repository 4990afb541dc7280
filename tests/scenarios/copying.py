"""A copy in transactions, while everybody who takes part is stopped and killed.

Kafka's own TransactionalMessageCopier reads a topic and writes another one, a few hundred records
and their offsets in each transaction, and aborts a third of them. Meanwhile the broker and the
copier are ended, in good order and not, in turns. What must come out is the input: all of it, in
its order, nothing twice, for a reader that reads meanwhile as for one that comes afterwards.

    python -m tests.scenarios.copying [--records 100000] [--rounds 5] [--group-mode] [--kafka]

runs the long form; with ``--kafka`` on Apache Kafka, to see that the test asks for nothing strange.
"""

import argparse
import json
import random
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from confluent_kafka import Consumer, Producer, TopicPartition
from tools.apache_kafka import ApacheKafka, class_path

from tests.scenarios.broker_process import BrokerProcess

SOURCE, TARGET = "source", "target"
_WAIT_S = 120.0
# The tool asks for its position before it takes its transactional id over. If it was killed between
# its offsets and its commit, it waits until the broker has aborted what it left open. Shorter than
# the restart of a broker on a busy machine it must not be: the tool would be fenced.
_TRANSACTION_TIMEOUT_MS = 15_000
BROKER_CONFIGS = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "500"}


class StoppableBroker(Protocol):
    """A broker that keeps its address and its data over restarts."""

    @property
    def bootstrap(self) -> str: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def kill(self) -> None: ...


@dataclass(frozen=True)
class Plan:
    """How much is copied, and how often everybody is ended in each of the four ways."""

    records: int
    rounds: int
    transaction_size: int = 750
    group_mode: bool = False


class Copier:
    """The tool, in one of its lives; `progress` counts the records it has committed so far."""

    def __init__(self, bootstrap: str, plan: Plan, folder: Path) -> None:
        command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", class_path(), "org.apache.kafka.tools.TransactionalMessageCopier"]
        command += ["--broker-list", bootstrap, "--transactional-id", "copier"]
        command += ["--input-topic", SOURCE, "--input-partition", "0", "--output-topic", TARGET]
        command += ["--transaction-size", str(plan.transaction_size), "--consumer-group", "copiers"]
        command += ["--enable-random-aborts", "--use-group-metadata"]
        command += ["--transaction-timeout", str(_TRANSACTION_TIMEOUT_MS)]
        if plan.group_mode:
            command.append("--group-mode")
        self.progress = 0
        self._errors = folder / "copier.txt"
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        self._listener = threading.Thread(target=self._listen, name="copier")
        self._listener.start()

    @property
    def words(self) -> str:
        return self._errors.read_text(errors="replace")[-3000:]

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def terminate(self) -> None:
        """SIGTERM; the tool's shutdown hook lets the transaction under way be what it is."""
        self._process.terminate()
        self.wait()

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self.wait()

    def wait(self) -> int:
        """Its exit code, once it has ended by itself."""
        with self._process:
            code = self._process.wait(_WAIT_S)
            self._listener.join()
        return code

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"{"):
                self.progress = json.loads(line)["totalProcessed"]


class Reader:
    """Reads the target under read_committed from the beginning, over all restarts."""

    def __init__(self, bootstrap: str, wanted: int) -> None:
        self.values: list[int] = []
        self._bootstrap = bootstrap
        self._wanted = wanted
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read, name="reader")
        self._thread.start()

    def finish(self, timeout_s: float) -> list[int]:
        """Wait until everything is read, and a little longer for what should not come."""
        deadline = time.monotonic() + timeout_s
        while len(self.values) < self._wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        self._stopping.set()
        self._thread.join()
        return self.values

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
            consumer.assign([TopicPartition(TARGET, 0, 0)])
            while not self._stopping.is_set():
                for message in consumer.consume(1000, 0.1):
                    if message.error() is None:
                        self.values.append(int(message.value()))


def kbroker(folder: Path) -> BrokerProcess:
    """A broker of ours that looks for late transactions often enough."""
    options = [word for each in BROKER_CONFIGS.items() for word in ("--set", "=".join(each))]
    return BrokerProcess(folder, options=options)


def fill(bootstrap: str, count: int) -> None:
    """Write the input: numbers in their order."""
    failures: list[object] = []
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number in range(count):
        producer.produce(
            SOURCE,
            b"%d" % number,
            partition=0,
            on_delivery=lambda error, _: failures.append(error) if error else None,
        )
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0
    assert failures == []


def copy_under_fire(broker: StoppableBroker, plan: Plan, folder: Path, dice: random.Random) -> None:
    """Copy while everybody is ended in turns; AssertionError if the output is not the input."""
    fill(broker.bootstrap, plan.records)
    meanwhile = Reader(broker.bootstrap, plan.records)
    copier = Copier(broker.bootstrap, plan, folder)
    blows = ["stop broker", "kill broker", "terminate copier", "kill copier"] * plan.rounds
    dice.shuffle(blows)
    try:
        for blow in blows:
            _wait_for_progress(copier)
            time.sleep(dice.uniform(0.0, 0.2))
            assert copier.is_running, f"done before {blow!r}: more records are needed"
            if blow == "stop broker":
                broker.stop()
                broker.start()
            elif blow == "kill broker":
                broker.kill()
                broker.start()
            else:
                copier.terminate() if blow == "terminate copier" else copier.kill()
                copier = Copier(broker.bootstrap, plan, folder)
        if plan.group_mode:  # then it waits for more for ever
            _wait_until(lambda: len(meanwhile.values) >= plan.records, copier)
            copier.terminate()
        else:
            assert copier.wait() == 0, copier.words
        expected = list(range(plan.records))
        assert meanwhile.finish(30.0) == expected
        assert Reader(broker.bootstrap, plan.records).finish(30.0) == expected
    finally:
        copier.kill()
        meanwhile.finish(0.0)


def _wait_for_progress(copier: Copier) -> None:
    before = copier.progress
    _wait_until(lambda: copier.progress > before, copier)


def _wait_until(condition: Callable[[], bool], copier: Copier) -> None:
    deadline = time.monotonic() + _WAIT_S
    while not condition():
        assert copier.is_running, f"the copier ended by itself:\n{copier.words}"
        assert time.monotonic() < deadline, f"the copier does not get on:\n{copier.words}"
        time.sleep(0.01)


def main(arguments: Sequence[str] | None = None) -> None:
    """The long form, with the seed that repeats it."""
    parser = argparse.ArgumentParser(prog="python -m tests.scenarios.copying")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--group-mode", action="store_true")
    parser.add_argument("--kafka", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args(arguments)
    plan = Plan(options.records, options.rounds, group_mode=options.group_mode)
    print(f"seed {options.seed}, {plan}")
    began_at = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        started: AbstractContextManager[StoppableBroker]
        started = ApacheKafka(properties=BROKER_CONFIGS)
        if not options.kafka:
            started = kbroker(Path(folder))
        with started as broker:
            copy_under_fire(broker, plan, Path(folder), random.Random(options.seed))
    print(f"output equals input, {time.monotonic() - began_at:.0f} s")


if __name__ == "__main__":
    main()
