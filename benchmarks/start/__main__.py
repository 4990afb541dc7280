"""Starts both brokers empty, then kbroker with idle partitions, after a clean stop and a kill.

.venv/bin/python -m benchmarks.start [--partitions 1000]
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.hot_path.brokers import RunningBroker, apache_kafka

_KBROKER = str(Path(sys.executable).parent / "kbroker")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--partitions", type=int, default=1000)
    partitions = parser.parse_args().partitions
    with apache_kafka() as kafka:
        _row("Apache Kafka, empty", kafka)
    with tempfile.TemporaryDirectory(prefix="kbroker-bench-") as directory:
        process, empty = _start(directory)
        empty_mb = empty.resident_mb()
        _row("kbroker, empty", empty)
        began_at = time.monotonic()
        command = [_KBROKER, "topics", "create", "idle", "--partitions", str(partitions)]
        subprocess.run([*command, "--bootstrap", empty.bootstrap], check=True)
        print(f"{partitions} partitions created in {time.monotonic() - began_at:.2f} s")
        _stop(process, signal.SIGTERM)
        process, full = _start(directory)
        _row(f"kbroker, {partitions} partitions after a clean stop", full)
        print(
            f"an idle partition holds {(full.resident_mb() - empty_mb) * 1024 / partitions:.1f} KB"
        )
        _stop(process, signal.SIGKILL)
        process, killed = _start(directory)
        _row(f"kbroker, {partitions} partitions after SIGKILL", killed)
        _stop(process, signal.SIGTERM)


def _start(directory: str) -> tuple[subprocess.Popen[bytes], RunningBroker]:
    ready = Path(directory) / "ready"
    ready.unlink(missing_ok=True)
    command = [_KBROKER, "start", "--data-dir", f"{directory}/data", "--listen", "127.0.0.1:0"]
    command += ["--ready-file", str(ready), "--log-level", "warning"]
    began_at = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not ready.exists():
        if process.poll() is not None:
            raise RuntimeError(f"kbroker ended with {process.returncode}")
        time.sleep(0.002)
    start_s = time.monotonic() - began_at
    return process, RunningBroker("kbroker", ready.read_text().strip(), process.pid, start_s)


def _stop(process: subprocess.Popen[bytes], order: signal.Signals) -> None:
    began_at = time.monotonic()
    process.send_signal(order)
    process.wait()
    if order is signal.SIGTERM:
        print(f"stopped in {time.monotonic() - began_at:.2f} s")


def _row(what: str, broker: RunningBroker) -> None:
    print(f"{what}: serves after {broker.start_s:.2f} s, holds {broker.resident_mb():.0f} MB")


if __name__ == "__main__":
    main()
