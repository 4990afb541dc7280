"""Our generator of load: prepared requests over many connections, with little effort per request.

The generator is a Go program (benchmarks/go/raw_load); this module gives it its plan, reads the
broker's processor time around it, and hands back what came of it.
"""

import base64
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.measuring.processes import go_program
from benchmarks.measuring.side import RunningBroker


@dataclass(frozen=True)
class Plan:
    """How the requests are sent; see benchmarks/go/raw_load/plan.go.

    A run ends after ``seconds`` or ``requests``, whichever comes first; 0 means no such end. With
    ``rate`` (requests in a second over all connections) requests are due at fixed times, and
    latency counts from then on, whether or not the request could leave. With ``unanswered`` only
    the last frame is answered, and is sent once on each connection at the end.
    """

    connections: int = 1
    in_flight: int = 5
    seconds: float = 0.0
    requests: int = 0
    rate: float = 0.0
    own_frames: bool = False
    counter_at: int = 0
    counter: int = 0
    unanswered: bool = False
    sources: int = 1


@dataclass(frozen=True)
class Result:
    """What came of it. ``last_answer`` is the last that was short enough to be kept."""

    requests: int
    seconds: float
    broker_cpu_s: float
    answer_bytes: int
    smallest: int
    largest: int
    last_answer: bytes
    p50_ms: float
    p99_ms: float
    p999_ms: float

    @property
    def per_s(self) -> float:
        """Requests answered in a second."""
        return self.requests / self.seconds

    @property
    def cpu_us(self) -> float:
        """Processor time of the broker for each request."""
        return self.broker_cpu_s * 1e6 / self.requests


class RawLoad:
    """Open connections that wait for their orders."""

    def __init__(self, broker: RunningBroker, process: subprocess.Popen[str]) -> None:
        self._broker = broker
        self._process = process

    def run(self) -> Result:
        """Do what the plan says; RuntimeError with the generator's words if it fails."""
        before_s = self._broker.cpu_s()
        self._order("go\n")
        line = self._line()
        cpu_s = self._broker.cpu_s() - before_s
        found = json.loads(line)
        return Result(
            requests=found["requests"],
            seconds=found["seconds"],
            broker_cpu_s=cpu_s,
            answer_bytes=found["answer_bytes"],
            smallest=found["smallest"],
            largest=found["largest"],
            last_answer=base64.b64decode(found["last_answer"]),
            p50_ms=found["p50_us"] / 1000,
            p99_ms=found["p99_us"] / 1000,
            p999_ms=found["p999_us"] / 1000,
        )

    def wait_until_ready(self) -> None:
        """Until all connections are open."""
        assert self._line() == "ready\n"

    def _order(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"raw_load: {self._process.stderr.read().strip()}")
        return line


@contextmanager
def opened(broker: RunningBroker, plan: Plan, frames: Sequence[bytes] = ()) -> Iterator[RawLoad]:
    """A generator with all its connections open; they are closed afterwards."""
    with tempfile.TemporaryDirectory(prefix="raw-load-") as directory:
        prepared = Path(directory) / "frames"
        prepared.write_bytes(b"".join(frames))
        order = {**asdict(plan), "address": broker.bootstrap, "frames": str(prepared)}
        written = Path(directory) / "plan.json"
        written.write_text(json.dumps(order))
        process = subprocess.Popen(
            [str(go_program("raw_load")), str(written)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            load = RawLoad(broker, process)
            load.wait_until_ready()
            yield load
        finally:
            process.kill()
            process.communicate()


def run_raw(broker: RunningBroker, plan: Plan, frames: Sequence[bytes]) -> Result:
    """Open the connections, run the plan, close them."""
    with opened(broker, plan, frames) as load:
        return load.run()
