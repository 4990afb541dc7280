"""What was measured on what: machine, versions, commit, date, settings."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tools.apache_kafka import KAFKA_VERSION

from benchmarks.measuring.processes import KAFKA_DEFAULTS, KAFKA_HEAP, KAFKA_JVM_OPTIONS, ROOT

SETTINGS = {
    "Apache Kafka": (
        f"its defaults; -Xms{KAFKA_HEAP} -Xmx{KAFKA_HEAP} -XX:+UseG1GC "
        f"{' '.join(KAFKA_JVM_OPTIONS)} as in its own start script; one process in combined KRaft "
        f"mode, internal topics with one replica and "
        f"{KAFKA_DEFAULTS['offsets.topic.num.partitions']} partitions"
    ),
    "kbroker": "its defaults; --log-level warning",
    "kfake": "its defaults; everything in memory",
    "both": "log.segment.delete.delay.ms=100: data of a run is gone before the next one",
    "data": "temporary directories of both on the same disk",
}


def description() -> dict[str, str]:
    """All that a reader of figures wants to know, by name."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "machine": f"{os.cpu_count()} cores {_processor()}, {_memory_gb():.0f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "Apache Kafka": KAFKA_VERSION,
        "Java": _java(),
        "Python": platform.python_version(),
        "confluent-kafka": version("confluent-kafka"),
        "kfake": _kfake(),
    }


def commit() -> str:
    """The commit that is checked out, with a mark if files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return found or "unknown"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory_gb() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) / 1024**2
    return 0.0


def _java() -> str:
    words = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    return words.splitlines()[0].partition('"')[2].partition('"')[0]


def _kfake() -> str:
    text = (ROOT / "benchmarks" / "go" / "go.mod").read_text()
    found = re.search(r"franz-go/pkg/kfake (\S+)", text)
    return found.group(1) if found else "unknown"
