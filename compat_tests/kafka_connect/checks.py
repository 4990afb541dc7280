"""Kafka Connect carries a file into a topic and the topic into a file, over a restart."""

import json
import urllib.request
from pathlib import Path
from uuid import uuid4

from tools.apache_kafka import free_port

from compat_tests.confluent_kafka.adapter import ConfluentAdmin
from compat_tests.java_process import JavaProcess, running

_WORKER = "org.apache.kafka.connect.cli.ConnectDistributed"
_STRINGS = "org.apache.kafka.connect.storage.StringConverter"


class ConnectOnStage:
    """A worker with its three topics, its REST interface and two files."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.name = f"connect-{uuid4().hex[:8]}"
        self.source, self.sink = folder / "source.txt", folder / "sink.txt"
        self._folder = folder
        self._rest = f"http://127.0.0.1:{free_port()}"
        self.internal = [f"{self.name}-{kind}" for kind in ("configs", "offsets", "status")]
        properties = {
            "bootstrap.servers": bootstrap,
            "group.id": self.name,
            "key.converter": _STRINGS,
            "value.converter": _STRINGS,
            "listeners": self._rest,
            "offset.flush.interval.ms": "500",
            "scheduled.rebalance.max.delay.ms": "0",
            "plugin.discovery": "only_scan",
        }
        for kind, topic in zip(("config", "offset", "status"), self.internal, strict=True):
            properties[f"{kind}.storage.topic"] = topic
            properties[f"{kind}.storage.replication.factor"] = "1"
        folder.mkdir(parents=True, exist_ok=True)
        self.properties_file = folder / "worker.properties"
        self.properties_file.write_text("".join(f"{k}={v}\n" for k, v in properties.items()))

    def ask(self, path: str, *, method: str = "GET", body: object = None) -> object:
        """One call of the REST interface."""
        request = urllib.request.Request(
            self._rest + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def put(self, worker: JavaProcess, connector: str, configs: dict[str, str]) -> None:
        """Create a connector and wait until it and its task run."""
        self.ask(f"/connectors/{connector}/config", method="PUT", body={"tasks.max": "1"} | configs)
        worker.until(lambda: self.states(connector) == {"RUNNING"}, f"{connector} that runs")

    def states(self, connector: str) -> set[str]:
        told = self.ask(f"/connectors/{connector}/status")
        assert isinstance(told, dict)
        tasks = [task["state"] for task in told["tasks"]]
        return {told["connector"]["state"], *(tasks or ["no task"])}

    def append(self, first: int, last: int) -> None:
        with self.source.open("a") as file:
            file.writelines(f"line {number}\n" for number in range(first, last))

    def has_all(self, count: int) -> bool:
        return self.sink.read_text().splitlines() == [f"line {number}" for number in range(count)]


def distributed(bootstrap: str, folder: Path) -> None:
    """Lines of a file arrive in another, each once and in order, also those after a restart."""
    stage = ConnectOnStage(bootstrap, folder)
    admin = ConfluentAdmin(bootstrap)
    stage.append(0, 100)
    with running(_WORKER, [str(stage.properties_file)], folder / "first") as worker:
        worker.until(lambda: stage.ask("/") is not None, "REST interface")
        source = {"file": str(stage.source), "topic": stage.name}
        stage.put(worker, "from", {"connector.class": "FileStreamSource", **source})
        sink = {"file": str(stage.sink), "topics": stage.name}
        stage.put(worker, "to", {"connector.class": "FileStreamSink", **sink})
        worker.until(lambda: stage.has_all(100), "100 lines")
    for topic in stage.internal:
        assert admin.topic_configs(topic)["cleanup.policy"] == "compact"
    stage.append(100, 150)
    # The connectors come from the topic of configs, and both go on from their committed offsets.
    with running(_WORKER, [str(stage.properties_file)], folder / "second") as worker:
        worker.until(lambda: stage.has_all(150), "150 lines")
        assert stage.ask("/connectors") == ["from", "to"] or set(stage.ask("/connectors")) == {
            "from",
            "to",
        }
        stage.ask("/connectors/from", method="DELETE")
        worker.until(lambda: stage.ask("/connectors") == ["to"], "connector that is gone")
