"""A broker in this process: the same code as ``kbroker start``, in a thread of its own.

    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})

It listens on a free port of 127.0.0.1 and keeps its data in a temporary directory that goes away
with it. Give ``data_dir`` to keep the data, and ``configs`` under Kafka's names to change how it
behaves.
"""

import shutil
import tempfile
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import trio

from kbroker.config import BrokerConfig
from kbroker.server.serving import serve

# What a test expects: nothing to wait for, nothing to look after.
_TEST_CONFIGS = {
    "node.id": "1",
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


class Broker:
    """A running broker, from ``start`` to ``stop``; or use it with ``with``."""

    def __init__(
        self, *, data_dir: str | None = None, configs: Mapping[str, str] | None = None
    ) -> None:
        self._configs = dict(configs or {})
        self._data_dir = data_dir
        self._temporary: str | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._shutdown: trio.Event | None = None
        self._failure: BaseException | None = None
        self.host = ""
        self.port = 0

    @property
    def bootstrap(self) -> str:
        """The address for clients, ``host:port``."""
        return f"{self.host}:{self.port}"

    @property
    def data_dir(self) -> str:
        """Where the data lies."""
        directory = self._data_dir or self._temporary
        assert directory is not None, "not started"
        return directory

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start and wait until clients can connect; raises what kept it from starting."""
        assert self._thread is None, "already running"
        if self._data_dir is None and self._temporary is None:
            self._temporary = tempfile.mkdtemp(prefix="kbroker-")
        configs = {**_TEST_CONFIGS, "log.dirs": self.data_dir, **self._configs}
        config = BrokerConfig.of(configs)
        self._ready.clear()
        self._thread = threading.Thread(target=self._run, args=(config,), name="kbroker")
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            self._join()
            raise failure

    def stop(self) -> None:
        """Shut down in good order; temporary data is deleted."""
        if self._thread is not None:
            assert self._token is not None
            assert self._shutdown is not None
            self._token.run_sync_soon(self._shutdown.set)
            self._join()
            if self._failure is not None:
                raise self._failure
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    def _join(self) -> None:
        assert self._thread is not None
        self._thread.join()
        self._thread = None

    def _run(self, config: BrokerConfig) -> None:
        """The broker's thread."""
        try:
            trio.run(self._serve, config)
        except BaseException as error:  # handed to the thread that started us
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self, config: BrokerConfig) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._shutdown = trio.Event()
        async with trio.open_nursery() as nursery:
            addresses = await nursery.start(serve, config, self._shutdown)
            self.host, self.port = addresses[0].host, addresses[0].port
            self._ready.set()
