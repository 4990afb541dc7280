"""docker-compose.yml, checked without an engine: its form, and the commands it would run."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tools.apache_kafka import free_port

from kbroker.client.cluster import Cluster
from spark_jobs.windowed_counts.main import parser

ROOT = Path(__file__).parent.parent
_TO_JSON = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"


@pytest.fixture(scope="module")
def services():
    """What docker-compose makes of the file."""
    config = subprocess.run(
        ["docker-compose", "-f", str(ROOT / "docker-compose.yml"), "config"],
        capture_output=True,
        check=False,
    )
    assert config.returncode == 0, config.stderr.decode()
    # docker-compose is a Python program that brings YAML for the system's Python.
    parsed = subprocess.run(
        ["/usr/bin/python3", "-c", _TO_JSON], input=config.stdout, capture_output=True, check=True
    )
    return json.loads(parsed.stdout)["services"]


def test_the_files_that_images_are_built_from_are_there(services):
    for service in services.values():
        dockerfile = ROOT / service["build"].get("dockerfile", "Dockerfile")
        sources = [
            word
            for line in dockerfile.read_text().splitlines()
            if line.startswith("COPY ")
            for word in shlex.split(line)[1:-1]
        ]
        assert sources
        assert all((ROOT / source).exists() for source in sources)


def test_the_broker_starts_with_its_command(services, tmp_path):
    """On other ports: those of the file may be taken here."""
    inside, outside = free_port(), free_port()
    words = [
        word.replace("broker:29092", f"127.0.0.1:{inside}")
        .replace("29092", str(inside))
        .replace(":9092", f":{outside}")
        .replace("=/data", f"={tmp_path}")
        for word in services["broker"]["command"]
    ]
    ready = tmp_path / "ready"
    command = [str(Path(sys.executable).parent / "kbroker"), *words, "--ready-file", str(ready)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            while not ready.exists():
                assert process.poll() is None, process.stderr.read().decode()
            for port in (inside, outside):
                with Cluster(f"127.0.0.1:{port}") as cluster:
                    [broker] = cluster.metadata().brokers
                    assert broker.port == port
        finally:
            process.terminate()


def test_the_job_takes_its_options(services):
    module, *words = services["windowed_counts"]["command"]

    options = parser().parse_args(words)
    assert module == "spark_jobs.windowed_counts.main"
    [_, port] = options.bootstrap.split(":")
    assert f"INSIDE://broker:{port}" in " ".join(services["broker"]["command"])
    assert not options.once
