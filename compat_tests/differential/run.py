"""One run of the script against one broker: ask, note the answer, go on.

Steps call `ask` with a name and a request; the answer is noted under that name and handed back for
later steps. What is asked `quietly` is not noted: it only waits or looks something up, because a
broker with a controller of its own takes a moment until all of it knows of a change.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from compat_tests.differential.answers import HOUR_MS, Names, Table, table_of
from kbroker.client.connection import Connection
from kbroker.client.errors import ClientError, ConnectionFailed
from kbroker.model import ZERO_UUID
from kbroker.records import Compression, Record, build_batch
from kbroker.wire import ErrorCode
from kbroker.wire.message import Request, Response
from kbroker.wire.messages import create_topics, list_offsets, metadata

R = TypeVar("R", bound=Response)

# How long an answer may take, and how long a change may take to be known everywhere.
_ANSWER_TIMEOUT_S = 15.0
_PATIENCE_S = 15.0
# A broker that closes a connection does it at once; one that does not will say something instead.
_SILENCE_S = 0.5

LATEST = -1
# How long a request may wait at the broker, where a step is about waiting.
WAIT_MS = 400


class Run:
    """A broker, what it is called there, and what it has answered so far."""

    def __init__(self, host: str, port: int, *, t0: int) -> None:
        self.t0 = t0
        self.names = Names(port, t0)
        self.answers: dict[str, Table] = {}
        self._address = (host, port)
        self._connection: Connection | None = None
        self._settled = 0

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    @property
    def connection(self) -> Connection:
        """The connection of the steps; a new one if a step made the broker close it."""
        if self._connection is None or not self._connection.is_open:
            self._connection = self.connect()
        return self._connection

    def connect(self, *, timeout_s: float = _ANSWER_TIMEOUT_S) -> Connection:
        """A connection of one's own."""
        return Connection(*self._address, client_id="differential", timeout_s=timeout_s)

    # Steps

    def ask(
        self, name: str, message: Request, version: int, *, timed: bool = False
    ) -> Response | None:
        """Note the answer to ``message``; None if the broker closed the connection instead.

        ``timed`` notes also whether the broker waited, for as long as a step says it may.
        """
        assert name not in self.answers, f"two steps are called {name!r}"
        began = time.monotonic()
        try:
            answer = self.connection.request(message, version)
        except ClientError as error:
            self.answers[name] = {"connection": _how_it_ended(error)}
            return None
        self.answers[name] = table_of(answer, version, self.names)
        if timed:
            waited = time.monotonic() - began > WAIT_MS / 1000
            self.answers[name]["time"] = "waited" if waited else "at once"
        return answer

    def send(self, name: str, message: Request, version: int) -> None:
        """Send what gets no answer, and note whether the connection lives on."""
        connection = self.connect(timeout_s=_SILENCE_S)
        connection.send(message, version, answered=False)
        self._note_silence(name, connection)

    def send_raw(self, name: str, data: bytes) -> None:
        """Send bytes that may be no request, and note what comes back: bytes, end or nothing."""
        connection = self.connect(timeout_s=_SILENCE_S)
        connection.send_raw(data)
        self._note_silence(name, connection)

    def _note_silence(self, name: str, connection: Connection) -> None:
        assert name not in self.answers, f"two steps are called {name!r}"
        with connection:
            try:
                self.answers[name] = {"frame": connection.receive_frame().hex()}
            except ClientError as error:
                self.answers[name] = {"connection": _how_it_ended(error)}

    # What is not compared

    def quietly(self, message: Request, answer: type[R], version: int) -> R:
        """The answer to a question that is no step."""
        return self.connection.ask(message, answer, version=version)

    def wait_until(self, what: str, is_so: Callable[[], bool]) -> None:
        """Ask again until it is so; AssertionError if it never is."""
        deadline = time.monotonic() + _PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline, f"{what}: not in {_PATIENCE_S:g} s"
            time.sleep(0.01)

    def topic_id(self, topic: str) -> bytes:
        """The id of a topic, which from now on is shown as the topic's name."""
        asked = [metadata.MetadataRequestTopic(name=topic)]
        request = metadata.MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        [found] = self.quietly(request, metadata.MetadataResponse, 12).topics
        if found.topic_id != ZERO_UUID:
            self.names.learn(found)
        return found.topic_id

    def create(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> bytes:
        """Create a topic without a step, wait until it can be written, and give its id."""
        wanted = create_topics.CreatableTopic(
            name=topic,
            num_partitions=partitions,
            replication_factor=1,
            configs=[
                create_topics.CreatableTopicConfig(name=name, value=value)
                for name, value in (configs or {}).items()
            ],
        )
        request = create_topics.CreateTopicsRequest(topics=[wanted])
        [result] = self.quietly(request, create_topics.CreateTopicsResponse, 7).topics
        assert result.error_code == ErrorCode.NONE, f"{topic}: {result.error_message}"
        return self.wait_for(topic, partitions=partitions)

    def wait_for(self, topic: str, *, partitions: int = 1) -> bytes:
        """Wait until every partition answers; gives the topic's id."""
        self.wait_until(f"{topic} answers", lambda: self._answers(topic, range(partitions)))
        return self.topic_id(topic)

    def wait_for_end(self, topic: str) -> None:
        """Wait until nobody knows the topic any more."""
        self.wait_until(
            f"{topic} is gone",
            lambda: self.topic_id(topic) == ZERO_UUID and not self._answers(topic, [0]),
        )

    def settle(self) -> None:
        """Wait until the broker obeys what it already describes.

        Kafka's broker takes in changes one after another: where a topic answers that was made
        after a change was first seen, all work of that change is done.
        """
        self._settled += 1
        self.create(f"settled-{self._settled}")

    def _answers(self, topic: str, partitions: Iterable[int]) -> bool:
        asked = [
            list_offsets.ListOffsetsPartition(partition_index=index, timestamp=LATEST)
            for index in partitions
        ]
        request = list_offsets.ListOffsetsRequest(
            replica_id=-1, topics=[list_offsets.ListOffsetsTopic(name=topic, partitions=asked)]
        )
        [found] = self.quietly(request, list_offsets.ListOffsetsResponse, 7).topics
        return all(one.error_code == ErrorCode.NONE for one in found.partitions)

    def batch(
        self,
        *values: bytes | None,
        key: bytes | None = b"k",
        at: int = 0,
        producer: tuple[int, int, int] = (-1, -1, -1),
        compression: Compression = Compression.NONE,
        base_offset: int = 0,
        is_transactional: bool = False,
        is_control: bool = False,
    ) -> bytes:
        """A batch of one record per value, a second apart from ``t0 + at`` on.

        ``producer`` is its id, epoch and first sequence.
        """
        producer_id, epoch, sequence = producer
        records = [
            Record(base_offset + number, self.t0 + at + number * 1000, key, value)
            for number, value in enumerate(values)
        ]
        return bytes(
            build_batch(
                records,
                base_offset=base_offset,
                producer_id=producer_id,
                producer_epoch=epoch,
                base_sequence=sequence,
                compression=compression,
                is_transactional=is_transactional,
                is_control=is_control,
            )
        )


def an_hour_ago_ms() -> int:
    """The zero of a run: old enough to be told from now, young enough to be retained."""
    return int(time.time() * 1000) - HOUR_MS


def _how_it_ended(error: ClientError) -> str:
    if isinstance(error, ConnectionFailed):
        if "did not answer" in str(error):
            return "silent"
        return "closed"
    return "other bytes"
