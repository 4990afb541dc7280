"""List, describe and delete groups, those of both protocols.

A *classic* group keeps what its members say as bytes, and DescribeGroups hands them out: whoever
wants to know their partitions has to read the assignment that their leader wrote. A *consumer*
group (KIP-848) is described by its coordinator in so many words. Nobody has to know the type
beforehand: each request finds only groups of its own kind, so the newer is tried before the older.

Every question about a group goes to its coordinator, and is tried again while that is moving or
still loading. A refusal is a BrokerError about the group.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from kbroker.client.bootstrap import Address
from kbroker.client.cluster import Cluster, Coordinator
from kbroker.client.connection import Connection
from kbroker.client.errors import BadAnswer, BrokerError, raise_refusal
from kbroker.model import TopicPartition
from kbroker.wire import ErrorCode, ProtocolError
from kbroker.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from kbroker.wire.messages.consumer_group_describe import Member as ConsumerMember
from kbroker.wire.messages.consumer_protocol import ConsumerProtocolAssignment
from kbroker.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from kbroker.wire.messages.describe_groups import (
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kbroker.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

T = TypeVar("T")

# Kafka's names for the types of groups.
CLASSIC = "classic"
CONSUMER = "consumer"
# The state of a group that is not there, before brokers had an error code for it (KIP-1043).
DEAD = "Dead"
EMPTY = "Empty"
# What the members of a group call their protocol when they share out partitions among them.
CONSUMER_PROTOCOL = "consumer"

# The first versions of ListGroups that tell states (KIP-518) and types (KIP-848).
_LIST_STATES = 4
_LIST_TYPES = 5
_ASSIGNMENT_VERSION_BYTES = 2


class ListedGroup(NamedTuple):
    """What a list says about a group; the protocol type is empty if it never had members."""

    group_id: str
    group_type: str
    protocol_type: str
    state: str


class GroupMember(NamedTuple):
    """A member, and the partitions that are its own at the moment, sorted."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class DescribedGroup:
    """A group as its coordinator sees it; ``assignor`` is empty until there is one."""

    group_id: str
    group_type: str
    protocol_type: str
    state: str
    assignor: str
    coordinator_id: int
    coordinator: Address
    members: tuple[GroupMember, ...]


def list_groups(
    cluster: Cluster, *, states: Iterable[str] = (), types: Iterable[str] = ()
) -> list[ListedGroup]:
    """The groups of all coordinators, sorted; only those of ``states`` and ``types``, if given."""
    wanted_states, wanted_types = list(states), list(types)

    def attempt() -> list[ListedGroup]:
        # A group that moves meanwhile may be in two lists; it is one group all the same.
        found = {
            group.group_id: group
            for connection in cluster.brokers().values()
            for group in _list_at(connection, wanted_states, wanted_types)
        }
        return sorted(found.values())

    return cluster.retry(attempt)


def describe_group(cluster: Cluster, group_id: str) -> DescribedGroup:
    """A group and its members; GROUP_ID_NOT_FOUND if there is none, or one of another kind."""

    def ask(coordinator: Coordinator) -> DescribedGroup:
        if coordinator.connection.speaks(ConsumerGroupDescribeRequest):
            described = _describe_consumer(coordinator, group_id)
            if described is not None:
                return described
        return _describe_classic(coordinator, group_id)

    return at_coordinator(cluster, group_id, ask)


def delete_group(cluster: Cluster, group_id: str) -> None:
    """Delete a group that has no members, with all its offsets."""

    def ask(coordinator: Coordinator) -> None:
        request = DeleteGroupsRequest(groups_names=[group_id])
        response = coordinator.connection.ask(request, DeleteGroupsResponse)
        result = the_only(response.results, coordinator.connection)
        raise_refusal(result.error_code, result.error_message, subject=group_id)

    at_coordinator(cluster, group_id, ask)


def at_coordinator(cluster: Cluster, group_id: str, ask: Callable[[Coordinator], T]) -> T:
    """What ``ask`` gives at the coordinator of a group; found anew for every attempt."""
    return cluster.retry(lambda: ask(cluster.coordinator(group_id)))


def the_only(answers: Sequence[T], connection: Connection) -> T:
    """The answer about the one group that was asked for; BadAnswer if there is not just one."""
    if len(answers) != 1:
        raise BadAnswer(f"{connection.address} answered about {len(answers)} groups, not one")
    return answers[0]


def assigned_partitions(assignment: bytes) -> tuple[TopicPartition, ...]:
    """The partitions in an assignment of the classic protocol; none if it makes no sense.

    Two bytes of version come first. The bytes are the members' own business: no broker has ever
    checked them, and a version from the future begins like the last one we know.
    """
    version = int.from_bytes(assignment[:_ASSIGNMENT_VERSION_BYTES], "big", signed=True)
    newest = ConsumerProtocolAssignment.versions.last
    try:
        decoded = ConsumerProtocolAssignment.decode(
            assignment, min(version, newest), _ASSIGNMENT_VERSION_BYTES
        )
    except ProtocolError:
        return ()
    return _sorted((topic.topic, topic.partitions) for topic in decoded.assigned_partitions)


def _list_at(connection: Connection, states: list[str], types: list[str]) -> list[ListedGroup]:
    """The groups of one coordinator; what an old broker does not tell or filter is done here."""
    version = connection.version_of(ListGroupsRequest)
    request = ListGroupsRequest(
        states_filter=states if version >= _LIST_STATES else [],
        types_filter=types if version >= _LIST_TYPES else [],
    )
    response = connection.ask(request, ListGroupsResponse, version=version)
    raise_refusal(response.error_code, subject=str(connection.address))
    # A broker that does not know of types has one.
    groups = [
        ListedGroup(
            group.group_id,
            # Kafka's brokers write types in small letters, its tools with a capital.
            group.group_type.lower() or CLASSIC,
            group.protocol_type,
            group.group_state,
        )
        for group in response.groups
    ]
    if version < _LIST_STATES and groups:
        groups = _with_states(connection, groups)
    return [
        group
        for group in groups
        if (not states or group.state in states) and (not types or group.group_type in types)
    ]


def _with_states(connection: Connection, groups: list[ListedGroup]) -> list[ListedGroup]:
    """``groups`` with the states that the same broker describes them in."""
    request = DescribeGroupsRequest(groups=[group.group_id for group in groups])
    response = connection.ask(request, DescribeGroupsResponse)
    states = {group.group_id: group.group_state for group in response.groups}
    return [group._replace(state=states.get(group.group_id, "")) for group in groups]


def _describe_consumer(coordinator: Coordinator, group_id: str) -> DescribedGroup | None:
    """A group of the consumer protocol; None if there is none, or the broker has it turned off."""
    connection = coordinator.connection
    request = ConsumerGroupDescribeRequest(group_ids=[group_id])
    response = connection.ask(request, ConsumerGroupDescribeResponse)
    group = the_only(response.groups, connection)
    if group.error_code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION):
        return None
    raise_refusal(group.error_code, group.error_message, subject=group_id)
    return DescribedGroup(
        group_id=group_id,
        group_type=CONSUMER,
        protocol_type=CONSUMER_PROTOCOL,
        state=group.group_state,
        assignor=group.assignor_name,
        coordinator_id=coordinator.node_id,
        coordinator=connection.address,
        members=tuple(sorted(map(_consumer_member, group.members))),
    )


def _describe_classic(coordinator: Coordinator, group_id: str) -> DescribedGroup:
    connection = coordinator.connection
    request = DescribeGroupsRequest(groups=[group_id])
    response = connection.ask(request, DescribeGroupsResponse)
    group = the_only(response.groups, connection)
    raise_refusal(group.error_code, group.error_message, subject=group_id)
    if group.group_state == DEAD:
        raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, subject=group_id)
    has_partitions = group.protocol_type == CONSUMER_PROTOCOL
    return DescribedGroup(
        group_id=group_id,
        group_type=CLASSIC,
        protocol_type=group.protocol_type,
        state=group.group_state,
        assignor=group.protocol_data,
        coordinator_id=coordinator.node_id,
        coordinator=connection.address,
        members=tuple(sorted(_classic_member(each, has_partitions) for each in group.members)),
    )


def _consumer_member(member: ConsumerMember) -> GroupMember:
    return GroupMember(
        member.member_id,
        member.instance_id,
        member.client_id,
        _host(member.client_host),
        _sorted((each.topic_name, each.partitions) for each in member.assignment.topic_partitions),
    )


def _classic_member(member: DescribedGroupMember, has_partitions: bool) -> GroupMember:
    return GroupMember(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        _host(member.client_host),
        assigned_partitions(member.member_assignment) if has_partitions else (),
    )


def _host(text: str) -> str:
    """An address without the slash that Java puts between a name, which is missing, and it."""
    return text.removeprefix("/")


def _sorted(topics: Iterable[tuple[str, list[int]]]) -> tuple[TopicPartition, ...]:
    return tuple(
        sorted(TopicPartition(topic, number) for topic, numbers in topics for number in numbers)
    )
