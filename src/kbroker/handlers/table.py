"""The APIs that are served, in which versions, and by which module.

This table is what ApiVersions advertises and what the dispatcher obeys, so an API that is not
fully done is not in it: clients fall back on absence, never on wrong answers. A handler's module
and its messages are imported when the first request for it comes.

To add an API, write ``handlers/<module>.py`` with one of

    def begin(context: RequestContext, request: XRequest) -> XResponse | Later[XResponse] | None
    async def handle(context: RequestContext, request: XRequest) -> XResponse

and add its line below. See `kbroker.broker.requests` for what the two promise.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias, cast

from kbroker.broker.requests import Later, Polled, RequestContext
from kbroker.wire import ApiKey, Message, api_spec
from kbroker.wire.message import Response

Begin: TypeAlias = Callable[
    [RequestContext, Message], Response | Later[Response] | Polled[Response] | None
]
Handle: TypeAlias = Callable[[RequestContext, Message], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Served:
    """One API: the range of versions it advertises, and the module that serves it.

    The advertised range may begin below what the messages know: librdkafka takes the lowest
    Produce version for a sign of what a broker can do. Requests of such a version are refused
    like those of any other unknown one, which is also what Kafka 4 does.
    """

    key: ApiKey
    module: str
    lowest: int
    highest: int

    def resolve(self) -> tuple[Begin | None, Handle | None]:
        """The handler, one of the two; its module is imported now."""
        module = import_module(self.module)
        begin = getattr(module, "begin", None)
        handle = getattr(module, "handle", None)
        assert (begin is None) != (handle is None), f"{self.module} has not exactly one handler"
        return cast(Begin | None, begin), cast(Handle | None, handle)


Table: TypeAlias = Mapping[int, Served]


def _served(key: ApiKey, *, lowest: int | None = None) -> Served:
    """An API in all its stable versions, served by the module that is named like it."""
    spec = api_spec(key)
    assert spec is not None
    versions = spec.stable_versions
    return Served(
        key,
        f"kbroker.handlers.{spec.module}",
        versions.first if lowest is None else lowest,
        versions.last,
    )


TABLE: Table = {
    served.key: served
    for served in (
        _served(ApiKey.PRODUCE, lowest=0),
        _served(ApiKey.FETCH),
        _served(ApiKey.LIST_OFFSETS),
        _served(ApiKey.METADATA),
        _served(ApiKey.OFFSET_COMMIT),
        _served(ApiKey.OFFSET_FETCH),
        _served(ApiKey.FIND_COORDINATOR),
        _served(ApiKey.JOIN_GROUP),
        _served(ApiKey.HEARTBEAT),
        _served(ApiKey.LEAVE_GROUP),
        _served(ApiKey.SYNC_GROUP),
        _served(ApiKey.DESCRIBE_GROUPS),
        _served(ApiKey.LIST_GROUPS),
        _served(ApiKey.DELETE_GROUPS),
        _served(ApiKey.OFFSET_DELETE),
        _served(ApiKey.API_VERSIONS),
        _served(ApiKey.CREATE_TOPICS),
        _served(ApiKey.DELETE_TOPICS),
        _served(ApiKey.DELETE_RECORDS),
        _served(ApiKey.INIT_PRODUCER_ID),
        _served(ApiKey.OFFSET_FOR_LEADER_EPOCH),
        _served(ApiKey.ADD_PARTITIONS_TO_TXN),
        _served(ApiKey.ADD_OFFSETS_TO_TXN),
        _served(ApiKey.END_TXN),
        _served(ApiKey.WRITE_TXN_MARKERS),
        _served(ApiKey.TXN_OFFSET_COMMIT),
        _served(ApiKey.DESCRIBE_ACLS),
        _served(ApiKey.CREATE_ACLS),
        _served(ApiKey.DELETE_ACLS),
        _served(ApiKey.DESCRIBE_CONFIGS),
        _served(ApiKey.ALTER_CONFIGS),
        _served(ApiKey.ALTER_REPLICA_LOG_DIRS),
        _served(ApiKey.DESCRIBE_LOG_DIRS),
        _served(ApiKey.CREATE_PARTITIONS),
        _served(ApiKey.ELECT_LEADERS),
        _served(ApiKey.INCREMENTAL_ALTER_CONFIGS),
        _served(ApiKey.ALTER_PARTITION_REASSIGNMENTS),
        _served(ApiKey.LIST_PARTITION_REASSIGNMENTS),
        _served(ApiKey.DESCRIBE_QUORUM),
        _served(ApiKey.UPDATE_FEATURES),
        _served(ApiKey.DESCRIBE_CLUSTER),
        _served(ApiKey.DESCRIBE_PRODUCERS),
        _served(ApiKey.DESCRIBE_TRANSACTIONS),
        _served(ApiKey.LIST_TRANSACTIONS),
        _served(ApiKey.CONSUMER_GROUP_HEARTBEAT),
        _served(ApiKey.CONSUMER_GROUP_DESCRIBE),
        _served(ApiKey.LIST_CONFIG_RESOURCES),
        _served(ApiKey.DESCRIBE_TOPIC_PARTITIONS),
    )
}  # fmt: skip
