"""Groups and their offsets: what nobody coordinates, what is no member, what cannot be."""

from typing import TYPE_CHECKING

from compat_tests.differential.run import Run
from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire import ErrorCode
from kbroker.wire.messages import consumer_group_heartbeat as consuming
from kbroker.wire.messages import join_group as joining
from kbroker.wire.messages import leave_group as leaving
from kbroker.wire.messages import offset_commit as committing
from kbroker.wire.messages import offset_delete as forgetting
from kbroker.wire.messages import offset_fetch as asking
from kbroker.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from kbroker.wire.messages.delete_groups import DeleteGroupsRequest
from kbroker.wire.messages.describe_groups import DescribeGroupsRequest
from kbroker.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kbroker.wire.messages.heartbeat import HeartbeatRequest
from kbroker.wire.messages.list_groups import ListGroupsRequest
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

if TYPE_CHECKING:
    from kbroker.wire.message import Request

_SESSION_MS = 30_000
# A member that no broker ever named.
_NOBODY = "nobody"


def offsets_of_groups(run: Run) -> None:
    _await_coordinators(run)
    run.create("committed", partitions=3)
    topic_id = Uuid(run.topic_id("committed"))
    for version in range(2, 10):
        _commit(run, f"commit v{version}", version=version)
    _commit(run, "commit v10 by id", version=10, topic_id=topic_id)
    _commit(run, "commit v10 by an unknown id", version=10, topic_id=Uuid(b"\7" * 16))
    _commit(run, "commit v10 by no id", version=10, topic_id=ZERO_UUID)
    for kind, offset, metadata in (
        ("a negative offset", -1, ""),
        ("no metadata", 5, None),
        ("4096 letters", 6, "x" * 4096),
        ("4097 letters", 7, "x" * 4097),
    ):
        _commit(run, f"commit {kind}", offset=offset, metadata=metadata)
    _commit(run, "commit for nobody", group="")
    _commit(run, "commit as a member of nothing", group="other", member=_NOBODY, generation=3)
    _commit(run, "commit as nobody in generation 3", group="other", generation=3)
    _commit(run, "commit as a static member of nothing", group="other", instance="i")
    for version in range(1, 8):
        _fetch_old(run, f"committed v{version}", "simple", version=version)
        if version >= 2:
            _fetch_old(run, f"all committed v{version}", "simple", version=version, topics=False)
        _fetch_old(run, f"committed by nobody v{version}", "nobody", version=version)
        _fetch_old(run, f"committed for no name v{version}", "", version=version)
    for version in (8, 9, 10):
        _fetch_new(run, version, topic_id)
    _forget(run)


def _await_coordinators(run: Run) -> None:
    """Kafka creates its topic for offsets when it is first asked who coordinates."""
    request = FindCoordinatorRequest(coordinator_keys=["simple", "other", "nobody"], key_type=0)

    def all_known() -> bool:
        answer = run.quietly(request, FindCoordinatorResponse, 4)
        return all(one.error_code == ErrorCode.NONE for one in answer.coordinators)

    run.wait_until("groups have coordinators", all_known)
    run.wait_for("__consumer_offsets", partitions=4)
    run.settle()


def _commit(
    run: Run,
    name: str,
    *,
    version: int = 9,
    group: str = "simple",
    offset: int = 11,
    metadata: str | None = "m",
    topic_id: Uuid = ZERO_UUID,
    member: str = "",
    generation: int = -1,
    instance: str | None = None,
) -> None:
    def topic(called: str, known_as: Uuid, *indexes: int) -> committing.OffsetCommitRequestTopic:
        return committing.OffsetCommitRequestTopic(
            name=called,
            topic_id=known_as,
            partitions=[
                committing.OffsetCommitRequestPartition(
                    partition_index=index,
                    committed_offset=offset,
                    committed_leader_epoch=0,
                    committed_metadata=metadata,
                )
                for index in indexes
            ],
        )

    topics = [topic("committed", topic_id, 0, 2, 3, -1)]
    if version < 10:
        topics.append(topic("nowhere", ZERO_UUID, 0))
    request = committing.OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member,
        group_instance_id=instance,
        topics=topics,
    )
    run.ask(name, request, version)


def _fetch_old(run: Run, name: str, group: str, *, version: int, topics: bool = True) -> None:
    """Up to version 7, for one group; without ``topics`` all of them."""
    asked = None
    if topics:
        asked = [
            asking.OffsetFetchRequestTopic(name="committed", partition_indexes=[0, 1, 2, 3]),
            asking.OffsetFetchRequestTopic(name="nowhere", partition_indexes=[0]),
        ]
    run.ask(name, asking.OffsetFetchRequest(group_id=group, topics=asked), version)


def _fetch_new(run: Run, version: int, topic_id: Uuid) -> None:
    """From version 8 on, for many groups; by id since version 10."""
    topics = [
        asking.OffsetFetchRequestTopics(
            name="committed", topic_id=topic_id, partition_indexes=[0, 1, 2, 3]
        ),
    ]
    if version < 10:
        nowhere = asking.OffsetFetchRequestTopics(name="nowhere", partition_indexes=[0])
        topics.append(nowhere)
    unknown = asking.OffsetFetchRequestTopics(topic_id=Uuid(b"\7" * 16), partition_indexes=[0])

    def ask(name: str, *groups: asking.OffsetFetchRequestGroup, stable: bool = False) -> None:
        request = asking.OffsetFetchRequest(groups=list(groups), require_stable=stable)
        run.ask(f"{name} v{version}", request, version)

    def group(
        name: str,
        topics: list[asking.OffsetFetchRequestTopics] | None,
        *,
        member: str | None = None,
        epoch: int = -1,
    ) -> asking.OffsetFetchRequestGroup:
        return asking.OffsetFetchRequestGroup(
            group_id=name, topics=topics, member_id=member, member_epoch=epoch
        )

    ask("committed by two", group("simple", topics), group("nobody", topics))
    ask("all committed by two", group("simple", None), group("nobody", None))
    ask("all committed, stable", group("simple", None), stable=True)
    ask("no topic committed", group("simple", []))
    ask("committed by no group")
    ask("committed by no name", group("", topics))
    ask("committed by one twice", group("simple", topics), group("simple", None))
    if version >= 9:
        ask("committed, says nobody", group("simple", topics, member=_NOBODY, epoch=3))
    if version >= 10:
        ask("committed to an unknown id", group("simple", [*topics, unknown]))


def _forget(run: Run) -> None:
    for kind, group in (("", "simple"), (" of nobody", "nobody"), (" of no name", "")):
        request = forgetting.OffsetDeleteRequest(
            group_id=group,
            topics=[
                forgetting.OffsetDeleteRequestTopic(
                    name=name,
                    partitions=[
                        forgetting.OffsetDeleteRequestPartition(partition_index=index)
                        for index in (0, 1, 9)
                    ],
                )
                for name in ("committed", "nowhere")
            ],
        )
        run.ask(f"forget offsets{kind}", request, 0)
    run.ask("forget nothing", forgetting.OffsetDeleteRequest(group_id="simple"), 0)


def classic_groups(run: Run) -> None:
    run.create("joined")
    for version in range(10):
        _join(run, f"join as nobody v{version}", version=version, member=_NOBODY)
        _join(run, f"join no group v{version}", version=version, group="")
        _join(run, f"join for 0 ms v{version}", version=version, session_ms=0)
        _join(run, f"join without protocols v{version}", version=version, protocols=())
    _join(run, "join without a type", protocol_type="")
    _join(run, "join for a year", session_ms=2**31 - 1)
    _join(run, "join, the first time", group="joined")
    _join(run, "join at once", group="alone", version=3)
    member = _member_of(run, "join at once, statically", group="static", instance="i", version=9)
    for version in range(5):
        _every_stranger(run, version)
    heartbeat = HeartbeatRequest(group_id="static", generation_id=1, member_id=member)
    run.ask("heartbeat before the assignment", heartbeat, 4)
    assignment = SyncGroupRequestAssignment(member_id=member, assignment=b"mine")
    for kind, generation, name in (("another generation", 9, "range"), ("no protocol", 1, "x")):
        request = _sync(member, assignment, generation=generation, protocol_name=name)
        run.ask(f"sync with {kind}", request, 5)
    run.ask("sync", _sync(member, assignment), 5)
    run.ask("sync again", _sync(member, assignment), 4)
    run.ask("heartbeat", heartbeat, 4)
    _commit(run, "commit as a member", group="static", member=member, generation=1)
    _commit(run, "commit of old", group="static", member=member, generation=0)
    _commit(run, "commit as nobody", group="static")
    _commit(run, "commit as i", group="static", member=member, generation=1, instance="i")
    _commit(run, "commit as another i", group="static", member="x", generation=1, instance="i")
    for version in range(7):
        request = DescribeGroupsRequest(groups=["static", "nobody", ""])
        run.ask(f"describe groups v{version}", request, version)
    _leave(run)


def _member_of(run: Run, name: str, **arguments: object) -> str:
    """The member id that a join got, which is also a step."""
    answer = _join(run, name, **arguments)  # type: ignore[arg-type]  # the same as of _join
    assert isinstance(answer, joining.JoinGroupResponse)
    return answer.member_id


def _join(
    run: Run,
    name: str,
    *,
    version: int = 9,
    group: str = "refused",
    member: str = "",
    instance: str | None = None,
    session_ms: int = _SESSION_MS,
    protocol_type: str = "consumer",
    protocols: tuple[str, ...] = ("range",),
) -> object:
    request = joining.JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=_SESSION_MS,
        member_id=member,
        group_instance_id=instance,
        protocol_type=protocol_type,
        protocols=[
            joining.JoinGroupRequestProtocol(name=protocol, metadata=b"meta")
            for protocol in protocols
        ],
    )
    return run.ask(name, request, version)


def _sync(
    member: str,
    assignment: SyncGroupRequestAssignment,
    *,
    generation: int = 1,
    protocol_name: str = "range",
) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id="static",
        generation_id=generation,
        member_id=member,
        protocol_type="consumer",
        protocol_name=protocol_name,
        assignments=[assignment],
    )


def _every_stranger(run: Run, version: int) -> None:
    for group in ("static", "nobody", ""):
        requests: dict[str, Request] = {
            "heartbeat": HeartbeatRequest(group_id=group, generation_id=1, member_id=_NOBODY),
            "sync": SyncGroupRequest(group_id=group, generation_id=1, member_id=_NOBODY),
        }
        if version >= 3:
            requests["leave"] = leaving.LeaveGroupRequest(
                group_id=group,
                members=[
                    leaving.MemberIdentity(member_id=_NOBODY),
                    leaving.MemberIdentity(member_id="", group_instance_id="j"),
                ],
            )
        else:
            requests["leave"] = leaving.LeaveGroupRequest(group_id=group, member_id=_NOBODY)
        for kind, request in requests.items():
            run.ask(f"{kind} as nobody in {group!r} v{version}", request, version)


def _leave(run: Run) -> None:
    run.ask("delete a group that has members", DeleteGroupsRequest(groups_names=["static"]), 2)
    member = leaving.MemberIdentity(member_id="", group_instance_id="i")
    run.ask("leave", leaving.LeaveGroupRequest(group_id="static", members=[member]), 5)
    run.ask("leave again", leaving.LeaveGroupRequest(group_id="static", members=[member]), 5)
    for version in range(3):
        names = ["nobody", "", "static", "simple"]
        request = DeleteGroupsRequest(groups_names=names)
        run.ask(f"delete groups v{version}", request, version)
    for version in range(6):
        run.ask(f"list groups v{version}", ListGroupsRequest(), version)
    for kind, request in (
        ("stable", ListGroupsRequest(states_filter=["Stable"])),
        ("stable, by any case", ListGroupsRequest(states_filter=["sTABLE"])),
        ("in no state there is", ListGroupsRequest(states_filter=["Nowhere"])),
        ("classic", ListGroupsRequest(types_filter=["classic"])),
        ("classic, by any case", ListGroupsRequest(types_filter=["CLASSIC"])),
        ("of no type there is", ListGroupsRequest(types_filter=["nothing"])),
        ("for consumers", ListGroupsRequest(types_filter=["consumer", "Share"])),
    ):
        run.ask(f"list groups that are {kind}", request, 5)


def consumer_groups(run: Run) -> None:
    for version in (0, 1):
        for kind, changed in (
            ("no group", {"group_id": ""}),
            ("a blank group", {"group_id": " "}),
            ("no member", {"member_id": ""}),
            ("an epoch of a stranger", {"member_epoch": 5}),
            ("epoch -3", {"member_epoch": -3}),
            ("no timeout", {"rebalance_timeout_ms": -1}),
            ("no subscription", {"subscribed_topic_names": None}),
            ("partitions at once", {"topic_partitions": [consuming.RequestTopicPartitions()]}),
            ("an empty instance", {"instance_id": ""}),
            ("an empty rack", {"rack_id": ""}),
            ("an unknown assignor", {"server_assignor": "best"}),
            ("an end before the beginning", {"member_epoch": -1}),
            ("a break of no static member", {"member_epoch": -2}),
        ):
            _beat(run, f"member with {kind} v{version}", version, **changed)
    _beat(run, "member with a bad pattern", 1, subscribed_topic_regex="(")
    _beat(run, "member of a classic group", 1, group_id="alone")
    answer = _beat(run, "member", 1, group_id="modern", subscribed_topic_names=["nowhere"])
    assert isinstance(answer, consuming.ConsumerGroupHeartbeatResponse)
    again: dict[str, object] = {"member_epoch": answer.member_epoch, "topic_partitions": None}
    again["subscribed_topic_names"] = None
    _beat(run, "member again", 1, group_id="modern", **again)
    _beat(run, "member of an old epoch", 1, group_id="modern", member_epoch=9)
    for version in (0, 1):
        names = ["modern", "nobody", "", "alone"]
        request = ConsumerGroupDescribeRequest(group_ids=names)
        run.ask(f"describe consumer groups v{version}", request, version)
    request = DescribeGroupsRequest(groups=["modern"])
    run.ask("describe a consumer group as a classic one", request, 6)
    _join(run, "join a consumer group by other means", group="modern", protocol_type="connect")
    _commit(run, "commit of no epoch", group="modern", member="me", generation=7)
    _commit(run, "commit as a stranger", group="modern", member="you", generation=1)
    _commit(run, "commit as nobody to members", group="modern")
    _beat(run, "member leaves", 1, group_id="modern", member_epoch=-1)
    run.ask("delete a consumer group", DeleteGroupsRequest(groups_names=["modern"]), 2)


def _beat(run: Run, name: str, version: int, **changed: object) -> object:
    fields: dict[str, object] = {
        "group_id": "refused-too",
        "member_id": "me",
        "member_epoch": 0,
        "rebalance_timeout_ms": _SESSION_MS,
        "subscribed_topic_names": ["joined"],
        "topic_partitions": [],
        **changed,
    }
    request = consuming.ConsumerGroupHeartbeatRequest(**fields)  # type: ignore[arg-type]
    return run.ask(name, request, version)
