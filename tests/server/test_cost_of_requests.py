"""What requests cost in calls of Python, beside a recorded baseline; no clock is asked.

If a count has grown for a good reason, `python -m benchmarks.guard --record` writes the baseline
anew, and the change of benchmarks/guard/baseline.json is there for the review.
"""

import socket

import pytest
from benchmarks.guard import baseline
from benchmarks.guard.counting import CountingBroker
from benchmarks.guard.sequences import count_all, new_topic, session_calls
from benchmarks.measuring import frames

pytestmark = pytest.mark.slow

# Counts from rest to rest differ by a call or two, when a timer falls due in between.
_NOISE = 1.05


def test_no_request_costs_much_more_than_in_the_baseline():
    recorded = baseline.load()
    counted = count_all()

    assert counted.keys() == recorded.keys()
    grown = baseline.complaints(counted, recorded)
    assert not grown, (
        "; ".join(grown) + ". If it has to be: .venv/bin/python -m benchmarks.guard --record"
    )


def test_a_fetch_in_a_session_costs_the_same_however_many_partitions_are_idle():
    with CountingBroker() as broker:
        few = session_calls(broker, new_topic(broker, "few", 5), 5)
        many = session_calls(broker, new_topic(broker, "many", 500), 500)

    assert many <= few * _NOISE


def test_a_produce_costs_the_same_however_many_connections_are_idle():
    with CountingBroker() as broker:
        new_topic(broker, "counted", 1)
        frame = frames.produce("counted", [0], frames.batch(1, 100))
        alone = broker.calls(lambda: frame)
        host, port = broker.bootstrap.split(":")
        idle = [socket.create_connection((host, int(port))) for _ in range(200)]
        crowded = broker.calls(lambda: frame)
        for connection in idle:
            connection.close()

    assert crowded <= alone * _NOISE


def test_growth_beyond_the_margin_is_named():
    recorded = {"produce": 100.0, "fetch": 100.0}

    complaints = baseline.complaints({"produce": 126.0, "fetch": 124.0}, recorded)

    assert complaints == ["produce: 126 calls a request, 100 in the baseline"]
