"""CreateTopics, DeleteTopics and CreatePartitions."""

from collections.abc import Mapping, Sequence

from compat_tests.differential.run import Run
from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.messages import create_partitions as growing
from kbroker.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kbroker.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

NEWEST_CREATE = 7
NEWEST_DELETE = 6
NEWEST_GROW = 3


def create_topics(run: Run) -> None:
    for version in range(2, NEWEST_CREATE + 1):
        _create(run, f"create v{version}", _topic(f"made-{version}"), version=version)
    _create(run, "create nothing")
    for timeout_ms in (0, -1):
        hurried = CreateTopicsRequest(topics=[_topic(f"timed-{timeout_ms}")], timeout_ms=timeout_ms)
        run.ask(f"create within {timeout_ms} ms", hurried, NEWEST_CREATE)
    _create(run, "create what exists", _topic("made-7"))
    _create(run, "validate what exists", _topic("made-7"), validate_only=True)
    _create(run, "validate a topic", _topic("only-validated", partitions=3), validate_only=True)
    _create(run, "create one topic twice", _topic("twice"), _topic("twice", partitions=2))
    _create(run, "create good and bad", _topic("good"), _topic("b d"), _topic("good-too"))
    for kind, name in (
        ("no name", ""),
        ("a dot", "."),
        ("two dots", ".."),
        ("a slash", "a/b"),
        ("249 letters", "y" * 249),
        ("250 letters", "y" * 250),
    ):
        _create(run, f"create a topic named with {kind}", _topic(name))
    run.create("col.lision")
    _create(run, "create a topic that collides", _topic("col_lision"))
    for version in (3, 4, NEWEST_CREATE):
        name = f"create with default counts v{version}"
        _create(run, name, _topic(f"default-{version}", partitions=-1, factor=-1), version=version)
    for count in (0, -2, 100_000_000):
        _create(run, f"create {count} partitions", _topic("counted", partitions=count))
    for factor in (0, -2, 2, 32767):
        _create(run, f"create with replication factor {factor}", _topic("counted", factor=factor))
    _create(run, "create an internal topic", _topic("__share_group_state", partitions=2))
    _create(run, "create a metadata topic", _topic("__cluster_metadata"))
    _assignments(run)
    _configs(run)


def _assignments(run: Run) -> None:
    for kind, assignments in (
        ("two partitions", ((0, [1]), (1, [1]))),
        ("an unknown broker", ((0, [7]),)),
        ("a broker twice", ((0, [1, 1]),)),
        ("a partition twice", ((0, [1]), (0, [1]))),
        ("a gap", ((0, [1]), (2, [1]))),
        ("no brokers", ((0, []),)),
        ("unequal factors", ((0, [1]), (1, [1, 2]))),
        ("a negative partition", ((-1, [1]),)),
        ("a negative broker", ((0, [-1]),)),
    ):
        topic = _topic("assigned", partitions=-1, factor=-1, assignments=assignments)
        _create(run, f"create, assigned to {kind}", topic)
    both = _topic("assigned-too", partitions=1, factor=1, assignments=((0, [1]),))
    _create(run, "create with counts and assignments", both)


def _configs(run: Run) -> None:
    for kind, configs in (
        ("good configs", {"retention.ms": "1000", "cleanup.policy": "compact,delete"}),
        ("an unknown config", {"no.such.config": "1"}),
        ("a config that is no number", {"retention.ms": "soon"}),
        ("a config out of range", {"retention.ms": "-2"}),
        ("an unknown policy", {"cleanup.policy": "forget"}),
        ("no policy", {"cleanup.policy": ""}),
        ("a null config", {"retention.ms": None}),
        ("a factor out of range", {"min.cleanable.dirty.ratio": "1.5"}),
        ("no boolean", {"preallocate": "maybe"}),
        ("remote storage", {"remote.storage.enable": "true"}),
        ("an old format", {"message.format.version": "2.0"}),
        ("segments of 13 bytes", {"segment.bytes": "13"}),
        ("unordered limits", {"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "8"}),
    ):
        topic = _topic(f"configured-{len(run.answers)}", configs=configs)
        _create(run, f"create with {kind}", topic)
    twice = _topic("configured-twice")
    twice.configs = [
        CreatableTopicConfig(name="retention.ms", value="1000"),
        CreatableTopicConfig(name="retention.ms", value="2000"),
    ]
    _create(run, "create with one config twice", twice)


def create_partitions(run: Run) -> None:
    run.create("grown", partitions=2)
    for version in range(NEWEST_GROW + 1):
        name = f"grow v{version}"
        _grow(run, name, ("grown", 3 + version, None), version=version)
    run.wait_for("grown", partitions=3 + NEWEST_GROW)
    changes: list[tuple[str, tuple[str, int, list[list[int]] | None]]] = [
        ("what is unknown", ("nowhere", 2, None)),
        ("an invalid topic", ("a b", 2, None)),
        ("to as many", ("grown", 6, None)),
        ("to fewer", ("grown", 2, None)),
        ("to none", ("grown", 0, None)),
        ("to minus one", ("grown", -1, None)),
        ("to a known broker", ("grown", 7, [[1]])),
        ("to an unknown broker", ("grown", 8, [[7]])),
        ("with too many assignments", ("grown", 8, [[1], [1]])),
        ("with too few assignments", ("grown", 9, [[1]])),
        ("with an empty assignment", ("grown", 8, [[]])),
        ("with two brokers", ("grown", 8, [[1, 2]])),
        ("with a broker twice", ("grown", 8, [[1, 1]])),
        ("with no assignments", ("grown", 8, [])),
    ]
    for kind, wanted in changes:
        _grow(run, f"grow {kind}", wanted, version=NEWEST_GROW)
    _grow(run, "grow nothing", version=NEWEST_GROW)
    _grow(run, "validate a growth", ("grown", 20, None), validate_only=True)
    _grow(run, "grow twice in one", ("grown", 21, None), ("grown", 22, None))
    run.create("grown-too")
    _grow(run, "grow good and bad", ("nowhere", 2, None), ("grown-too", 2, None))


def delete_topics(run: Run) -> None:
    for version in range(1, NEWEST_DELETE):
        run.create(f"doomed-{version}")
        names = [f"doomed-{version}", "nowhere"]
        run.ask(
            f"delete v{version}", DeleteTopicsRequest(topic_names=names, timeout_ms=5000), version
        )
    doomed = run.create("doomed-by-id")
    run.create("doomed-by-name")
    run.create("survivor")
    unknown = Uuid(b"\x02" * 16)
    run.names.topics[unknown] = "<unknown id>"
    for kind, states in (
        ("nothing", []),
        ("by unknown id", [(None, unknown)]),
        ("by unknown name", [("nowhere", ZERO_UUID)]),
        ("by invalid name", [("a b", ZERO_UUID)]),
        ("by neither", [(None, ZERO_UUID)]),
        ("by id and name", [("survivor", doomed)]),
        ("one name twice", [("survivor", ZERO_UUID), ("survivor", ZERO_UUID)]),
        ("one id twice", [(None, doomed), (None, doomed)]),
        ("by id and by name", [(None, doomed), ("doomed-by-id", ZERO_UUID)]),
        ("by id", [(None, doomed)]),
        ("by id again", [(None, doomed)]),
        ("by name", [("doomed-by-name", ZERO_UUID)]),
        ("by name again", [("doomed-by-name", ZERO_UUID)]),
    ):
        topics = [DeleteTopicState(name=name, topic_id=Uuid(one)) for name, one in states]
        run.ask(
            f"delete {kind}", DeleteTopicsRequest(topics=topics, timeout_ms=5000), NEWEST_DELETE
        )
    survivor = DeleteTopicsRequest(topic_names=["survivor", "survivor"], timeout_ms=5000)
    run.ask("delete one name twice v5", survivor, 5)
    hurried = DeleteTopicsRequest(topic_names=["survivor"], timeout_ms=0)
    run.ask("delete without any time", hurried, 5)


def _create(
    run: Run,
    name: str,
    *topics: CreatableTopic,
    version: int = NEWEST_CREATE,
    validate_only: bool = False,
) -> None:
    request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    run.ask(name, request, version)


def _topic(
    name: str,
    *,
    partitions: int = 1,
    factor: int = 1,
    assignments: Sequence[tuple[int, list[int]]] = (),
    configs: Mapping[str, str | None] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in assignments
        ],
        configs=[
            CreatableTopicConfig(name=config, value=value)
            for config, value in (configs or {}).items()
        ],
    )


def _grow(
    run: Run,
    name: str,
    *wanted: tuple[str, int, list[list[int]] | None],
    version: int = NEWEST_GROW,
    validate_only: bool = False,
) -> None:
    topics = [
        growing.CreatePartitionsTopic(
            name=topic,
            count=count,
            assignments=None
            if brokers is None
            else [growing.CreatePartitionsAssignment(broker_ids=one) for one in brokers],
        )
        for topic, count, brokers in wanted
    ]
    request = growing.CreatePartitionsRequest(
        topics=topics, timeout_ms=10_000, validate_only=validate_only
    )
    run.ask(name, request, version)
