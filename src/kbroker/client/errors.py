"""What a caller of the client has to expect: a few kinds of failure, each one sentence long."""
# ruff: noqa: N818 - "except ConnectionFailed" says it all; only the root is called an error.

from kbroker.wire import ErrorCode

# What people read when a broker sends a code without words.
_WORDS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "there is no such topic or partition",
    ErrorCode.UNKNOWN_TOPIC_ID: "there is no topic with this id",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "this is no valid topic name",
    ErrorCode.TOPIC_ALREADY_EXISTS: "the topic exists already",
    ErrorCode.LEADER_NOT_AVAILABLE: "the partition has no leader",
    ErrorCode.NOT_LEADER_OR_FOLLOWER: "the broker is not the leader of the partition",
    ErrorCode.OFFSET_OUT_OF_RANGE: "the log does not hold this offset",
    ErrorCode.MESSAGE_TOO_LARGE: "the record is larger than the topic allows",
    ErrorCode.NOT_ENOUGH_REPLICAS: "fewer replicas are in sync than the topic demands",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "this is not allowed on the topic",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "this is not allowed on the cluster",
    ErrorCode.INVALID_RECORD: "the broker refused the record",
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: "the coordinator is still reading its groups",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "the group has no coordinator at the moment",
    ErrorCode.NOT_COORDINATOR: "the broker is not the coordinator of the group",
    ErrorCode.INVALID_GROUP_ID: "this is no valid group id",
    ErrorCode.GROUP_ID_NOT_FOUND: "there is no such group",
    ErrorCode.NON_EMPTY_GROUP: "the group has members",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "this is not allowed on the group",
    ErrorCode.REQUEST_TIMED_OUT: "the request took too long",
}


class ClientError(Exception):
    """The root of all that goes wrong between this client and a cluster."""


class ConnectionFailed(ClientError):
    """A broker cannot be reached, closed the connection, or did not answer in time."""


class BadAnswer(ClientError):
    """A broker answered with bytes that are not what the protocol says."""


class UnsupportedByBroker(ClientError):
    """There is no version of a request that both sides speak."""


class BrokerError(ClientError):
    """A broker refused a request.

    ``subject`` is what the refusal is about (a topic, a partition), if it is about one thing.
    """

    def __init__(
        self, code: int, message: str | None = None, *, subject: str | None = None
    ) -> None:
        try:
            self.code = ErrorCode(code)
        except ValueError:  # A newer broker may have codes that we do not know.
            self.code = ErrorCode.UNKNOWN_SERVER_ERROR
            message = message or f"error code {code}"
        self.message = message or _WORDS.get(self.code) or self.code.name.lower().replace("_", " ")
        self.subject = subject
        super().__init__(code, message)

    def __str__(self) -> str:
        about = f"{self.subject}: " if self.subject else ""
        return f"{about}{self.message} ({self.code.name})"


class NoSuchPartition(BrokerError):
    """The topic is there, but has no such partition; unlike a new topic, it will not appear."""

    def __init__(self, topic: str, partition: int) -> None:
        super().__init__(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            f"the topic has no partition {partition}",
            subject=topic,
        )


def raise_refusal(code: int, message: str | None = None, *, subject: str | None = None) -> None:
    """Raise BrokerError unless ``code`` means success."""
    if code != ErrorCode.NONE:
        raise BrokerError(code, message, subject=subject)
