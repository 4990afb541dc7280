"""A cluster as a client sees it: its brokers, leaders, controller and group coordinators.

The first answer comes from one of the bootstrap addresses, in their order. From then on metadata
comes from any broker that has a connection, and each broker gets one connection when it is first
needed. Metadata is asked for when it is missing and thrown away when an answer shows that it is
old: `retry` does that between two attempts.

No address that answers means no retries: somebody who has not started a broker wants to know now.
Once the cluster has been reached, lost connections are retried like every passing trouble.
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from kbroker.client.bootstrap import Address, parse_bootstrap
from kbroker.client.connection import Connection
from kbroker.client.errors import (
    BadAnswer,
    BrokerError,
    ClientError,
    ConnectionFailed,
    NoSuchPartition,
    raise_refusal,
)
from kbroker.client.retrying import Retries
from kbroker.wire import ErrorCode
from kbroker.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kbroker.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

T = TypeVar("T")

# The first version that takes several keys at once, and gives its answer in a list (KIP-699).
_FIND_SEVERAL = 4
# What is coordinated, in the words of FindCoordinator.
GROUP_KEY = 0
TRANSACTION_KEY = 1


class Coordinator(NamedTuple):
    """The broker that looks after a group or a transactional id, and the connection to it."""

    node_id: int
    connection: Connection


class Cluster:
    """The connections to a cluster, and what it last said about itself.

    ValueError if ``bootstrap`` is no list of addresses. ``timeout_s`` bounds each answer, and the
    time for which something is retried. Close it, or use it in a ``with`` statement.
    """

    def __init__(
        self, bootstrap: str, *, client_id: str = "kbroker", timeout_s: float = 30.0
    ) -> None:
        self._bootstrap = parse_bootstrap(bootstrap)
        self._client_id = client_id
        self.timeout_s = timeout_s
        self._connections: dict[Address, Connection] = {}
        self._addresses: dict[int, Address] = {}
        self._controller_id = -1
        self._topics: dict[str, MetadataResponseTopic] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    # Metadata

    def metadata(
        self, topics: Sequence[str] | None = (), *, create_topics: bool = False
    ) -> MetadataResponse:
        """What the cluster says now about itself and ``topics``; None means all of them.

        A topic that cannot be described carries its error code. ``create_topics`` lets a broker
        create those that are missing, if it is configured to.
        """
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=create_topics)
        response = self.any_connection().ask(request, MetadataResponse)
        raise_refusal(response.error_code)
        self._addresses = {
            broker.node_id: Address(broker.host, broker.port) for broker in response.brokers
        }
        self._controller_id = response.controller_id
        for topic in response.topics:
            if topic.name is not None and topic.error_code == ErrorCode.NONE:
                self._topics[topic.name] = topic
        return response

    def topic(self, name: str, *, create: bool = False) -> MetadataResponseTopic:
        """The partitions of one topic, as last heard; BrokerError if it cannot be described."""
        found = self._topics.get(name)
        if found is None:
            (found,) = self.metadata([name], create_topics=create).topics
            raise_refusal(found.error_code, subject=name)
        return found

    def partition(self, topic: str, partition: int) -> MetadataResponsePartition:
        """One partition of a topic; NoSuchPartition if it does not have so many."""
        for found in self.topic(topic).partitions:
            if found.partition_index == partition:
                return found
        raise NoSuchPartition(topic, partition)

    # Connections

    def any_connection(self) -> Connection:
        """A connection to some broker: one that is open, or the first that can be opened."""
        for connection in self._connections.values():
            if connection.is_open and not connection.in_flight:
                return connection
        failure: ClientError | None = None
        for address in dict.fromkeys([*self._addresses.values(), *self._bootstrap]):
            try:
                return self._connect(address)
            except ConnectionFailed as error:
                failure = failure or error
        assert failure is not None, "there is at least one address"
        raise failure

    def leader(self, topic: str, partition: int) -> Connection:
        """The connection to the leader of a partition; LEADER_NOT_AVAILABLE if there is none."""
        found = self.partition(topic, partition)
        subject = f"{topic}-{partition}"
        if found.leader_id < 0:
            raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE, subject=subject)
        return self._connection_to(found.leader_id, subject)

    def by_leader(self, topic: str, partitions: Iterable[int]) -> dict[Connection, list[int]]:
        """``partitions``, sorted by their leaders."""
        grouped: dict[Connection, list[int]] = {}
        for partition in partitions:
            grouped.setdefault(self.leader(topic, partition), []).append(partition)
        return grouped

    def controller(self) -> Connection:
        """The connection to the broker that takes changes of topics."""
        if self._controller_id not in self._addresses:
            self.metadata()
        if self._controller_id < 0:
            raise BrokerError(ErrorCode.NOT_CONTROLLER, "the cluster has no controller")
        return self._connection_to(self._controller_id, "controller")

    def brokers(self) -> dict[int, Connection]:
        """The connections to all brokers that are there now, by their ids."""
        nodes = self.metadata().brokers
        return {node.node_id: self._connection_to(node.node_id, "broker") for node in nodes}

    def coordinator(self, key: str, *, key_type: int = GROUP_KEY) -> Coordinator:
        """The coordinator of a group or a transactional id; COORDINATOR_NOT_AVAILABLE if there is
        none at the moment.

        It is asked for each time: what follows is one request, and groups move.
        """
        connection = self.any_connection()
        version = connection.version_of(FindCoordinatorRequest)
        if version >= _FIND_SEVERAL:
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        else:
            request = FindCoordinatorRequest(key_type=key_type, key=key)
        answer = connection.ask(request, FindCoordinatorResponse, version=version)
        if version >= _FIND_SEVERAL and len(answer.coordinators) != 1:
            raise BadAnswer(f"{connection.address} named {len(answer.coordinators)} coordinators")
        found = answer.coordinators[0] if version >= _FIND_SEVERAL else answer
        raise_refusal(found.error_code, found.error_message, subject=key)
        # The coordinator may have started after the last metadata.
        self._addresses[found.node_id] = Address(found.host, found.port)
        return Coordinator(found.node_id, self._connection_to(found.node_id, key))

    def _connection_to(self, node_id: int, subject: str) -> Connection:
        address = self._addresses.get(node_id)
        if address is None:
            raise BrokerError(
                ErrorCode.LEADER_NOT_AVAILABLE, f"broker {node_id} is not there", subject=subject
            )
        return self._connect(address)

    def _connect(self, address: Address) -> Connection:
        connection = self._connections.get(address)
        if connection is None or not connection.is_open:
            connection = Connection(
                address.host, address.port, self._client_id, timeout_s=self.timeout_s
            )
            self._connections[address] = connection
        return connection

    # Trying again

    def retry(self, attempt: Callable[[], T], *, unknown_topic_s: float = 0.0) -> T:
        """What ``attempt`` gives, tried again while the trouble may pass.

        The last error is raised when ``timeout_s`` is over. An attempt whose answer was lost may
        have had its effect; the next one is then told so (TOPIC_ALREADY_EXISTS, for example).
        """
        retries = Retries(self.timeout_s, unknown_topic_s=unknown_topic_s)
        while True:
            try:
                return attempt()
            except ClientError as error:
                self.recover(error, retries)

    def recover(self, error: ClientError, retries: Retries) -> None:
        """Pause, and forget what may be old; raises ``error`` when there is no use in retrying."""
        self.forget()
        if isinstance(error, ConnectionFailed) and not self._addresses:
            raise error  # The cluster has never been reached.
        retries.wait_or_raise(error)
        # If nobody answers now, the next attempt will say so.
        with contextlib.suppress(ClientError):
            self.metadata()

    def forget(self) -> None:
        """Drop the metadata, and connections that are closed or in the middle of an answer."""
        self._topics.clear()
        for address, connection in list(self._connections.items()):
            if not connection.is_open or connection.in_flight:
                connection.close()
                del self._connections[address]
