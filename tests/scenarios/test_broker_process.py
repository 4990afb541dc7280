"""BrokerProcess as users have it for their own tests: killed, started again, gone at the end."""

import os
import signal
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.topics import create_topic
from kbroker.testing import BrokerProcess

pytestmark = pytest.mark.slow


def topics(broker: BrokerProcess) -> list[str | None]:
    with Cluster(broker.bootstrap) as cluster:
        return [topic.name for topic in cluster.metadata(None).topics]


def test_a_broker_comes_back_on_its_port_with_its_data():
    with BrokerProcess(configs={"num.partitions": "7"}) as broker:
        address, data_dir = broker.bootstrap, broker.data_dir
        with Cluster(broker.bootstrap) as cluster:
            create_topic(cluster, "orders")
        broker.kill()
        assert not broker.is_running
        broker.start()
        assert broker.bootstrap == address
        assert topics(broker) == ["orders"]
        assert broker.partition_dir("orders", 6).is_dir()
        pid = broker.pid
        broker.restart()
        assert broker.pid != pid
        assert topics(broker) == ["orders"]
    assert not broker.is_running
    assert not data_dir.exists()


def test_what_a_broker_says_is_in_the_error(tmp_path: Path):
    broker = BrokerProcess(tmp_path, options=["--set", "no.such.interval.ms=never", "--nonsense"])
    with pytest.raises(RuntimeError, match="nonsense"):
        broker.start()
    assert not broker.is_running


def test_a_broker_that_dies_of_itself_is_no_good_end(tmp_path: Path):
    with pytest.raises(RuntimeError, match="exited with -9"), BrokerProcess(tmp_path) as broker:
        os.kill(broker.pid, signal.SIGKILL)


def test_an_error_in_the_test_is_not_hidden_by_the_end_of_the_broker(tmp_path: Path):
    broker = BrokerProcess(tmp_path)
    broker.start()
    os.kill(broker.pid, signal.SIGSTOP)  # it could not stop in time
    broker.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert not broker.is_running
