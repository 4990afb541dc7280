"""Transactions of Kafka's Java producer: small ones and large ones, of one producer and of ten.

The program beside this file commits one transaction after another for a while. Its producers speak
version 2 of transactions (KIP-890), in which a transaction takes a Produce and an EndTxn.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tools.apache_kafka import run_java

from benchmarks.measuring.clients import spent
from benchmarks.measuring.figures import P50, P99, RECORDS_PER_S, Figures, Goal
from benchmarks.measuring.side import RunningBroker
from benchmarks.measuring.topics import new_topic
from benchmarks.suite.workload import Workload, on_shared

TRANSACTIONS_PER_S = "transactions/s"
CPU_PER_TRANSACTION = "CPU us/transaction"
GOALS = {TRANSACTIONS_PER_S: Goal(1.0), RECORDS_PER_S: Goal(1.0)}

_PROGRAM = Path(__file__).with_name("Transactions.java")
_TOTALS = re.compile(r"(\d+) transactions, ([\d.]+) ms median, ([\d.]+) ms 99th")
_RUN_S = 4.0
# For the compiler of the client's Java, which begins anew with each run.
_WARM_UP_S = 2.0


@dataclass(frozen=True)
class JavaTransactions:
    """So many producers, each with its own transactions of so many records of 100 bytes."""

    records: int
    producers: int = 1
    partitions: int = 1

    def run(self, broker: RunningBroker, scale: float) -> Figures:
        """Write to a new topic."""
        seconds = max(1.0, _RUN_S * scale)
        with new_topic(broker, self.partitions) as topic, spent(broker) as broker_spent:
            output = run_java(
                _PROGRAM,
                *(broker.bootstrap, topic.name, str(self.partitions), str(self.producers)),
                *(str(self.records), str(_WARM_UP_S), str(seconds)),
                heap="512m",
                quick_start=False,
            ).decode()
            found = _TOTALS.search(output)
            assert found is not None, output
            transactions = int(found[1])
            # All partitions of each transaction have a marker beside their records.
            assert topic.record_count() > transactions * self.records, "records are missing"
        per_s = transactions / seconds
        return {
            TRANSACTIONS_PER_S: per_s,
            RECORDS_PER_S: per_s * self.records,
            # The broker works at the same rate while the client warms up.
            CPU_PER_TRANSACTION: broker_spent.cpu_s * 1e6 / (per_s * (seconds + _WARM_UP_S)),
            P50: float(found[2]),
            P99: float(found[3]),
        }


def _java(name: str, load: JavaTransactions, *, quick: bool = False) -> Workload:
    return Workload("transactions", f"java: {name}", on_shared(load.run), GOALS, quick=quick)


WORKLOADS = [
    _java("1 record in each", JavaTransactions(1), quick=True),
    _java("10 records in each", JavaTransactions(10), quick=True),
    _java("1,000 records in each", JavaTransactions(1_000), quick=True),
    _java("10 records in each, 6 partitions", JavaTransactions(10, partitions=6)),
    _java("1 record in each, 10 producers", JavaTransactions(1, producers=10)),
    _java("10 records in each, 10 producers", JavaTransactions(10, producers=10)),
    _java("1,000 records in each, 10 producers", JavaTransactions(1_000, producers=10)),
]
