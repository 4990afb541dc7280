"""Broker configs about replicas, leaders and quotas."""

from kbroker.config.definition import (
    BOOLEAN,
    CLASS,
    CLUSTER_WIDE,
    INT,
    LONG,
    NO_EFFECT,
    STRING,
    ConfigDef,
    table,
)
from kbroker.config.validators import Range

REPLICATION_CONFIGS = table(
    ConfigDef(
        "auto.leader.rebalance.enable",
        BOOLEAN,
        True,
        "Whether leadership goes back to the preferred replicas from time to time.",
    ),
    ConfigDef(
        "broker.rack",
        STRING,
        None,
        "The rack or zone this broker stands in; replicas are spread over racks.",
    ),
    ConfigDef(
        "controlled.shutdown.enable",
        BOOLEAN,
        True,
        "Whether a stopping broker first hands over its leaderships.",
    ),
    ConfigDef(
        "default.replication.factor",
        INT,
        1,
        "How many replicas a topic gets that is created without a number.",
    ),
    ConfigDef(
        "follower.fetch.last.tiered.offset.enable",
        BOOLEAN,
        False,
        NO_EFFECT,
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "leader.imbalance.check.interval.seconds",
        LONG,
        300,
        "How often the leaders are compared with the preferred replicas.",
        Range(1),
    ),
    ConfigDef(
        "min.insync.replicas",
        INT,
        1,
        (
            "How many replicas must hold a record before acks=all is answered in topics that do "
            "not set their own."
        ),
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef("num.replica.alter.log.dirs.threads", INT, None, NO_EFFECT),
    ConfigDef(
        "num.replica.fetchers",
        INT,
        1,
        "How many connections a broker fetches through from each leader.",
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "replica.fetch.backoff.ms",
        INT,
        1_000,
        "How long a follower waits after a failed fetch.",
        Range(0),
    ),
    ConfigDef(
        "replica.fetch.max.bytes",
        INT,
        1_048_576,
        (
            "The most bytes a follower asks for per partition; the first batch comes even if it "
            "is larger."
        ),
        Range(0),
    ),
    ConfigDef("replica.fetch.min.bytes", INT, 1, "How many bytes a follower's fetch waits for."),
    ConfigDef(
        "replica.fetch.response.max.bytes",
        INT,
        10_485_760,
        (
            "The most bytes a follower asks for per fetch; the first batch comes even if it is "
            "larger."
        ),
        Range(0),
    ),
    ConfigDef(
        "replica.fetch.wait.max.ms",
        INT,
        500,
        "How long a follower's fetch waits for new records; less than replica.lag.time.max.ms.",
    ),
    ConfigDef(
        "replica.high.watermark.checkpoint.interval.ms",
        LONG,
        5_000,
        "How often the high watermarks of all partitions are written down.",
    ),
    ConfigDef(
        "replica.lag.time.max.ms",
        LONG,
        30_000,
        (
            "How long a follower may lag behind the end of the log before it leaves the in-sync "
            "replicas."
        ),
    ),
    ConfigDef(
        "replica.selector.class",
        STRING,
        None,
        (
            "Which replica a consumer is told to read from; Kafka's rack-aware selector is "
            "known by its Java name."
        ),
    ),
    ConfigDef(
        "replica.socket.receive.buffer.bytes",
        INT,
        65_536,
        "The size of the receive buffer of a connection to a leader.",
    ),
    ConfigDef(
        "replica.socket.timeout.ms",
        INT,
        30_000,
        "How long a follower waits for the answer to a fetch.",
    ),
    ConfigDef(
        "unclean.leader.election.enable",
        BOOLEAN,
        False,
        (
            "Whether a replica that is not in sync may become leader in topics that do not say "
            "so themselves."
        ),
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "unclean.leader.election.interval.ms",
        LONG,
        300_000,
        "How often partitions without a leader are looked at for an unclean election.",
        Range(1),
        internal=True,
    ),
    ConfigDef(
        "alter.log.dirs.replication.quota.window.num",
        INT,
        11,
        "How many samples are kept of the speed at which replicas move between log directories.",
        Range(1),
    ),
    ConfigDef(
        "alter.log.dirs.replication.quota.window.size.seconds",
        INT,
        1,
        "How long one sample of the speed at which replicas move between log directories lasts.",
        Range(1),
    ),
    ConfigDef(
        "replication.quota.window.num",
        INT,
        11,
        "How many samples are kept of the speed of replication.",
        Range(1),
    ),
    ConfigDef(
        "replication.quota.window.size.seconds",
        INT,
        1,
        "How long one sample of the speed of replication lasts.",
        Range(1),
    ),
    ConfigDef(
        "controller.quota.window.num",
        INT,
        11,
        "How many samples are kept of the rate of changes to topics and partitions.",
        Range(1),
    ),
    ConfigDef(
        "controller.quota.window.size.seconds",
        INT,
        1,
        "How long one sample of the rate of changes to topics and partitions lasts.",
        Range(1),
    ),
    ConfigDef(
        "quota.window.num",
        INT,
        11,
        "How many samples are kept for the quotas of clients.",
        Range(1),
    ),
    ConfigDef(
        "quota.window.size.seconds",
        INT,
        1,
        "How long one sample for the quotas of clients lasts.",
        Range(1),
    ),
    ConfigDef("client.quota.callback.class", CLASS, None, NO_EFFECT),
)
