"""Broker configs about classic groups, consumer groups and committed offsets."""

from kbroker.config.definition import (
    CLUSTER_WIDE,
    INT,
    LIST,
    LONG,
    MAX_INT,
    NO_EFFECT,
    SHORT,
    STRING,
    ConfigDef,
    table,
)
from kbroker.config.validators import ListOf, OneOf, Range

GROUP_COORDINATOR_CONFIGS = table(
    ConfigDef(
        "group.consumer.assignment.interval.ms",
        INT,
        1_000,
        "The shortest time between two new assignments of a consumer group.",
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "group.consumer.assignors",
        LIST,
        ("uniform", "range"),
        "The assignors a consumer group may use on the server; the first is the default.",
        ListOf(may_be_empty=False),
    ),
    ConfigDef(
        "group.consumer.heartbeat.interval.ms",
        INT,
        5_000,
        "How often members of consumer groups are told to send heartbeats.",
        Range(1),
    ),
    ConfigDef(
        "group.consumer.max.assignment.interval.ms",
        INT,
        15_000,
        "The largest consumer.assignment.interval.ms a group may set.",
        Range(0),
    ),
    ConfigDef(
        "group.consumer.max.heartbeat.interval.ms",
        INT,
        15_000,
        "The largest consumer.heartbeat.interval.ms a group may set.",
        Range(1),
    ),
    ConfigDef(
        "group.consumer.max.session.timeout.ms",
        INT,
        60_000,
        "The largest consumer.session.timeout.ms a group may set.",
        Range(1),
    ),
    ConfigDef(
        "group.consumer.max.size",
        INT,
        MAX_INT,
        "How many members a consumer group may have.",
        Range(1),
    ),
    ConfigDef(
        "group.consumer.migration.policy",
        STRING,
        "bidirectional",
        (
            "Which way groups may move between the classic and the consumer protocol: disabled, "
            "upgrade, downgrade or bidirectional."
        ),
        OneOf(("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"), any_case=True),
    ),
    ConfigDef(
        "group.consumer.min.assignment.interval.ms",
        INT,
        0,
        "The smallest consumer.assignment.interval.ms a group may set.",
        Range(0),
    ),
    ConfigDef(
        "group.consumer.min.heartbeat.interval.ms",
        INT,
        5_000,
        "The smallest consumer.heartbeat.interval.ms a group may set.",
        Range(1),
    ),
    ConfigDef(
        "group.consumer.min.session.timeout.ms",
        INT,
        45_000,
        "The smallest consumer.session.timeout.ms a group may set.",
        Range(1),
    ),
    ConfigDef(
        "group.consumer.regex.refresh.interval.ms",
        INT,
        600_000,
        "How often the topics behind subscribed patterns are looked up again.",
        Range(10_000),
        internal=True,
    ),
    ConfigDef(
        "group.consumer.session.timeout.ms",
        INT,
        45_000,
        "How long a member of a consumer group may stay silent before it is removed.",
        Range(1),
    ),
    ConfigDef(
        "group.coordinator.append.linger.ms",
        INT,
        -1,
        "How long the coordinator collects records before it writes them; -1 adapts to the load.",
        Range(-1),
    ),
    ConfigDef("group.coordinator.background.threads", INT, 2, NO_EFFECT, Range(1)),
    ConfigDef(
        "group.coordinator.cached.buffer.max.bytes",
        INT,
        1_048_588,
        NO_EFFECT,
        Range(524_288),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "group.coordinator.rebalance.protocols",
        LIST,
        ("classic", "consumer", "streams"),
        "The group protocols that are served.",
        ListOf(("consumer", "classic", "share", "streams"), may_be_empty=False),
    ),
    ConfigDef("group.coordinator.threads", INT, 4, NO_EFFECT, Range(1)),
    ConfigDef(
        "group.initial.rebalance.delay.ms",
        INT,
        3_000,
        "How long the first rebalance of a new classic group waits for more members.",
    ),
    ConfigDef(
        "group.max.session.timeout.ms",
        INT,
        1_800_000,
        "The longest session timeout a member of a classic group may ask for.",
    ),
    ConfigDef(
        "group.max.size", INT, MAX_INT, "How many members a classic group may have.", Range(1)
    ),
    ConfigDef(
        "group.min.session.timeout.ms",
        INT,
        6_000,
        "The shortest session timeout a member of a classic group may ask for.",
    ),
    ConfigDef(
        "offset.metadata.max.bytes",
        INT,
        4_096,
        "How much metadata a client may store with a committed offset.",
    ),
    ConfigDef(
        "offsets.commit.timeout.ms",
        INT,
        5_000,
        "How long a commit may wait for its replicas.",
        Range(1),
    ),
    ConfigDef(
        "offsets.load.buffer.size",
        INT,
        5_242_880,
        "How much is read at a time when a coordinator loads the offsets topic.",
        Range(1),
    ),
    ConfigDef(
        "offsets.retention.check.interval.ms",
        LONG,
        600_000,
        "How often expired offsets are looked for.",
        Range(1),
    ),
    ConfigDef(
        "offsets.retention.minutes",
        INT,
        10_080,
        (
            "How long the offsets of an empty group, or of a topic nobody in it subscribes to, "
            "are kept."
        ),
        Range(1),
    ),
    ConfigDef(
        "offsets.topic.compression.codec",
        INT,
        0,
        "The codec of batches in the offsets topic: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
    ),
    ConfigDef(
        "offsets.topic.num.partitions",
        INT,
        50,
        "How many partitions the offsets topic is created with; it must not change later.",
        Range(1),
    ),
    ConfigDef(
        "offsets.topic.replication.factor",
        SHORT,
        3,
        "How many replicas the offsets topic is created with.",
        Range(1),
    ),
    ConfigDef(
        "offsets.topic.segment.bytes",
        INT,
        104_857_600,
        "The segment size of the offsets topic; small segments load faster.",
        Range(1),
    ),
)
