"""Both brokers follow the script once for all tests here."""

from typing import NamedTuple

import pytest
from tools.apache_kafka import ApacheKafka

from compat_tests.differential.answers import Table
from compat_tests.differential.comparison import Difference, differences
from compat_tests.differential.run import Run, an_hour_ago_ms
from compat_tests.differential.script import follow
from kbroker.testing import Broker

# No cleanup may come between two steps, however slow the machine is: neither broker starts any
# before the script is over.
_PATIENT = {"log.initial.task.delay.ms": "600000"}
# What Apache Kafka is started with beyond its defaults, because one broker is alone.
_CONFIGS = {
    **_PATIENT,
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


class Compared(NamedTuple):
    """How many steps there were, and every field that differed."""

    steps: int
    found: list[Difference]


@pytest.fixture(scope="session")
def compared() -> Compared:
    """The differences between the two brokers."""
    t0 = an_hour_ago_ms()
    with ApacheKafka(properties=_PATIENT) as kafka:
        theirs = _answers("127.0.0.1", kafka.port, t0)
    with Broker(configs=_CONFIGS) as broker:
        ours = _answers(broker.host, broker.port, t0)
    return Compared(len(theirs), list(differences(theirs, ours)))


def _answers(host: str, port: int, t0: int) -> dict[str, Table]:
    run = Run(host, port, t0=t0)
    try:
        follow(run)
    finally:
        run.close()
    return run.answers
