"""TLS: Kafka's own perf tools over a listener that encrypts.

All bytes pass through the broker's processor here; nothing leaves with sendfile, on either side.
These rows have brokers of their own, so the suite's first warm-up is not theirs: theirs is a run of
both tools, before the first row.
"""

from benchmarks.measuring.clients import java_consume, java_produce
from benchmarks.measuring.figures import RECORDS_PER_S, Figures
from benchmarks.measuring.side import EncryptedBroker, Side
from benchmarks.measuring.topics import Topic, new_topic
from benchmarks.suite.consume import filled
from benchmarks.suite.produce import AHEAD_GOALS
from benchmarks.suite.workload import Lab, Workload

_PARTITIONS = 6
_RECORD_BYTES = 1024
_PRODUCED, _CONSUMED, _WARM_UP = 300_000, 600_000, 300_000


def _produce(lab: Lab, side: Side, scale: float) -> Figures:
    broker = _warm(lab, side)
    with new_topic(broker, _PARTITIONS) as topic:
        return _java_produce(broker, topic, max(1000, int(_PRODUCED * scale)))


def _consume(lab: Lab, side: Side, scale: float) -> Figures:
    broker = _warm(lab, side)
    records = max(10_000, int(_CONSUMED * scale))
    with filled(broker, _PARTITIONS, _RECORD_BYTES, records) as topic:
        return _java_consume(broker, topic, topic.record_count())


def _warm(lab: Lab, side: Side) -> EncryptedBroker:
    broker = side.encrypted()
    lab.remember(f"first run over TLS on {side.name}", lambda: _first_run(broker))
    return broker


def _first_run(broker: EncryptedBroker) -> float:
    with new_topic(broker, _PARTITIONS) as topic:
        _java_produce(broker, topic, _WARM_UP)
        return _java_consume(broker, topic, _WARM_UP)[RECORDS_PER_S]


def _java_produce(broker: EncryptedBroker, topic: Topic, records: int) -> Figures:
    options = (f"bootstrap.servers={broker.tls_bootstrap}", *broker.client_options)
    return java_produce(topic, records, _RECORD_BYTES, options)


def _java_consume(broker: EncryptedBroker, topic: Topic, records: int) -> Figures:
    options = broker.client_options
    return java_consume(topic, records, options, bootstrap=broker.tls_bootstrap)


WORKLOADS = [
    Workload("TLS", "java: produce 1 KB, 6 partitions, defaults", _produce, AHEAD_GOALS),
    Workload("TLS", "java: consume 1 KB, 6 partitions", _consume, AHEAD_GOALS),
]
