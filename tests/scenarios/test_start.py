"""What scripts rely on: how ``kbroker start`` says that it serves, stops, and refuses."""

import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.topics import create_topic
from kbroker.testing.process import KBROKER, START_TIMEOUT_S, free_port
from kbroker.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.scenarios.broker_process import BrokerProcess

# What Apache Kafka 4.3 ships as config/server.properties, as far as it has names and values; the
# addresses and the directory are ours.
STOCK_PROPERTIES = """\
# The role of this server. Setting this puts us in KRaft mode
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,\\
  SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs={directory}
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path) as running:
        yield running


def refused(*options: str, directory: Path) -> str:
    """What ``kbroker start`` says before it exits with 2: one line, and nothing on stdout."""
    ended = subprocess.run(
        [str(KBROKER), "start", *options],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, ""), ended
    [line] = ended.stderr.splitlines()
    assert line.startswith("kbroker")
    return line


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# Serving.


def test_it_says_where_it_serves_in_one_line_and_in_the_ready_file(
    broker: BrokerProcess, tmp_path: Path
):
    wait_until(lambda: bool(broker.stdout))  # it is printed after the file is written
    assert broker.stdout == f"kbroker serves {broker.bootstrap}\n"
    assert (tmp_path / "ready").read_text() == f"{broker.bootstrap}\n"
    assert not (tmp_path / "ready.tmp").exists()
    with Cluster(broker.bootstrap) as cluster:
        [node] = cluster.metadata().brokers
    assert (node.host, node.port, node.node_id) == (broker.host, broker.port, 1)


def test_port_0_is_any_free_port(tmp_path: Path):
    ready = tmp_path / "ready"
    command = [str(KBROKER), "start", "--data-dir", "data", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, "--ready-file", str(ready)],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(ready.exists)
        host, _, port = ready.read_text().strip().partition(":")
        assert int(port) > 0
        with Cluster(f"{host}:{port}") as cluster:
            [node] = cluster.metadata().brokers
        assert node.port == int(port)
    finally:
        process.terminate()
        assert process.wait(30) == 0


def test_json_log_lines_are_json(tmp_path: Path):
    broker = BrokerProcess(tmp_path, options=["--log-format", "json", "--log-level", "debug"])
    with broker:
        with Cluster(broker.bootstrap) as cluster:
            cluster.metadata()
        broker.stop()
    lines = [json.loads(line) for line in broker.stderr.splitlines()]
    assert {"listening", "shutting down"} <= {line["event"] for line in lines}


def test_the_properties_of_a_stock_kafka_are_accepted(tmp_path: Path):
    port, controller_port = free_port(), free_port()
    data, ready = tmp_path / "combined-logs", tmp_path / "ready"
    properties = STOCK_PROPERTIES.format(port=port, controller_port=controller_port, directory=data)
    (tmp_path / "server.properties").write_text(properties)
    command = [str(KBROKER), "start", "--config", "server.properties", "--ready-file", str(ready)]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_until(ready.exists)
        assert ready.read_text() == f"127.0.0.1:{port}\n"
        with Cluster(f"127.0.0.1:{port}") as cluster:
            [node] = cluster.metadata().brokers
        assert (node.node_id, node.port) == (1, port)
        assert (data / "meta.properties").exists()
    finally:
        process.terminate()
        _, words = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "unknown config" not in words


# Stopping.


@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_in_good_order(broker: BrokerProcess, order: signal.Signals):
    broker.stop(order)

    assert (broker.data_dir / ".kafka_cleanshutdown").exists()
    assert "Traceback" not in broker.stderr


def test_idle_clients_and_long_polls_do_not_keep_it_from_stopping(broker: BrokerProcess):
    """A fetch may wait for minutes; whoever stops a broker does not."""
    with (
        Connection(broker.host, broker.port) as idle,
        Connection(broker.host, broker.port) as polling,
        closing(socket.create_connection((broker.host, broker.port))) as silent,
        Cluster(broker.bootstrap) as cluster,
    ):
        create_topic(cluster, "t", partitions=1)
        idle.versions()
        silent.sendall(b"\x00\x00")  # half a length
        asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        topic = FetchTopic(topic="t", partitions=[asked])
        polling.send(FetchRequest(max_wait_ms=300_000, min_bytes=1, topics=[topic]), version=12)
        time.sleep(0.2)
        begun = time.monotonic()
        broker.stop()
        assert time.monotonic() - begun < 15
    assert (broker.data_dir / ".kafka_cleanshutdown").exists()
    assert "Traceback" not in broker.stderr


def test_the_port_can_be_used_again_at_once(broker: BrokerProcess):
    with Connection(broker.host, broker.port) as connection:
        connection.versions()
        broker.stop()
        broker.start()
    broker.kill()
    broker.start()
    broker.stop()


# Refusing.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--no-such-option"], "--no-such-option"),
        (["--set", "nonsense"], "nonsense"),
        (["--set", "=1"], "NAME=VALUE"),
        (["--set", "num.partitions=many"], "num.partitions"),
        (["--set", "num.partitions=0"], "num.partitions"),
        (["--node-id", "one"], "--node-id"),
        (["--node-id", "-5"], "node.id"),
        (["--listen", "nowhere"], "HOST:PORT"),
        (["--listen", "127.0.0.1:70000"], "70000"),
        (["--listen", "127.0.0.1:http"], "HOST:PORT"),
        (["--listen", "no.such.host.invalid:9092"], "no.such.host.invalid"),
        (["--listen", "192.0.2.1:9092"], "192.0.2.1"),
        (["--log-format", "xml"], "--log-format"),
        (["--config", "missing.properties"], "missing.properties"),
        (["--config", "."], "cannot read"),
        (["--config", "latin1.properties"], "UTF-8"),
        (["--config", "bad.properties"], "log.segment.bytes"),
        (["--data-dir", "a-file"], "a-file"),
        (["--data-dir", "a-file/below"], "a-file"),
        (["--ready-file", "missing/ready"], "missing/ready"),
        (["--ready-file", "."], "cannot write"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, options: list[str], words: str):
    (tmp_path / "a-file").write_text("")
    (tmp_path / "latin1.properties").write_bytes(b"broker.rack=\xe9\n")
    (tmp_path / "bad.properties").write_text("log.segment.bytes=12\n")
    if "--listen" not in options:
        options = [*options, "--listen", "127.0.0.1:0"]

    assert words in refused(*options, directory=tmp_path)


def test_a_port_in_use_is_refused(tmp_path: Path):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        line = refused("--data-dir", "data", "--listen", address, directory=tmp_path)

    assert address in line
    assert "in use" in line


def test_a_data_directory_in_use_is_refused(broker: BrokerProcess, tmp_path: Path):
    options = ["--data-dir", str(broker.data_dir), "--listen", "127.0.0.1:0"]

    assert "another process" in refused(*options, directory=tmp_path)
    assert broker.is_running


def test_a_data_directory_of_another_node_is_refused_and_left_alone(
    broker: BrokerProcess, tmp_path: Path
):
    broker.stop()
    options = ["--data-dir", str(broker.data_dir), "--listen", "127.0.0.1:0", "--node-id", "2"]

    assert "node.id 1" in refused(*options, directory=tmp_path)
    broker.start()
    broker.stop()


def test_metadata_that_is_damaged_is_refused_and_left_alone(broker: BrokerProcess, tmp_path: Path):
    broker.stop()
    path = broker.data_dir / "cluster-metadata.kbroker"
    path.write_bytes(b"something else")

    line = refused(
        "--data-dir", str(broker.data_dir), "--listen", "127.0.0.1:0", directory=tmp_path
    )

    assert "metadata" in line
    assert path.read_bytes() == b"something else"
