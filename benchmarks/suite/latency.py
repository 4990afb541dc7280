"""Latency at a fixed rate: of a produce, and from end to end."""

from benchmarks.measuring.end_to_end import end_to_end
from benchmarks.measuring.figures import (
    CPU_PER_RECORD,
    CPU_PER_REQUEST,
    P99,
    RECORDS_PER_S,
    REQUESTS_PER_S,
    Figures,
    Goal,
)
from benchmarks.measuring.side import RunningBroker, Side
from benchmarks.measuring.topics import new_topic
from benchmarks.suite.produce import JavaProduce, RawProduce
from benchmarks.suite.workload import Lab, Workload, on_shared

GOALS = {P99: Goal(0.7)}
END_TO_END_GOALS = {P99: Goal(0.7, value=20.0)}

_RATE = 2000
_RUN_S = 6.0
# Kafka's maximum is taken from runs of this length, in seconds and in records.
_MAXIMUM_S = 2.5
_MAXIMUM_RECORDS = 1_000_000


def _raw_paced(broker: RunningBroker, rate: float, scale: float) -> Figures:
    load = RawProduce(acks=-1, connections=4, rate=rate, seconds=_RUN_S)
    found = load.run(broker, scale)
    # At a fixed rate this says nothing.
    del found[REQUESTS_PER_S]
    return found


def _raw_at_2000(broker: RunningBroker, scale: float) -> Figures:
    return _raw_paced(broker, _RATE, scale)


def _raw_at_half(lab: Lab, side: Side, scale: float) -> Figures:
    """Half of what Kafka, warmed up, answers at the most."""

    def most() -> float:
        load = RawProduce(acks=-1, connections=4, seconds=_MAXIMUM_S)
        return max(load.run(lab.kafka.shared(), 1.0)[REQUESTS_PER_S] for _ in range(3))

    half = lab.remember("requests/s of Kafka, acks=all", most) / 2
    return {"rate": half} | _raw_paced(side.shared(), half, scale)


def _java_paced(broker: RunningBroker, rate: int, scale: float) -> Figures:
    options = ("acks=all", "linger.ms=0") if rate == _RATE else ()
    return JavaProduce(int(rate * _RUN_S), rate=rate, options=options).run(broker, scale)


def _java_at_2000(broker: RunningBroker, scale: float) -> Figures:
    return _java_paced(broker, _RATE, scale)


def _java_at_half(lab: Lab, side: Side, scale: float) -> Figures:
    def most() -> float:
        load = JavaProduce(_MAXIMUM_RECORDS)
        return max(load.run(lab.kafka.shared(), 1.0)[RECORDS_PER_S] for _ in range(2))

    half = lab.remember("records/s of Kafka, defaults", most) / 2
    return {"rate": half} | _java_paced(side.shared(), int(half), scale)


def _end_to_end(broker: RunningBroker, scale: float) -> Figures:
    with new_topic(broker) as topic:
        return end_to_end(topic, rate=_RATE, seconds=max(1.5, _RUN_S * scale))


WORKLOADS = [
    Workload(
        "latency", "raw: produce at 2,000/s, one record a request, acks=all",
        on_shared(_raw_at_2000), GOALS | {CPU_PER_REQUEST: Goal(0.4)}, quick=True, on_kfake=True,
    ),
    Workload(
        "latency", "raw: produce at half of Kafka's maximum, one record a request",
        _raw_at_half, GOALS | {CPU_PER_REQUEST: Goal(0.4)}, quick=True,
    ),
    Workload(
        "latency", "java: produce at 2,000/s, linger 0", on_shared(_java_at_2000), GOALS, quick=True
    ),
    Workload(
        "latency", "java: produce at half of Kafka's maximum, defaults", _java_at_half,
        GOALS | {CPU_PER_RECORD: Goal(0.6)},
    ),
    Workload(
        "latency", "librdkafka: end to end at 2,000/s", on_shared(_end_to_end), END_TO_END_GOALS,
        quick=True,
    ),
]  # fmt: skip
