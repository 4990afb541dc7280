"""Broker configs about membership in the cluster, and what a KRaft quorum and a JVM need.

kbroker keeps its metadata in its own store, so the quorum's configs are only
accepted: a server.properties written for Apache Kafka works as it is.
"""

from kbroker.config.definition import (
    BOOLEAN,
    CLUSTER_WIDE,
    INT,
    LIST,
    LONG,
    MAX_LONG,
    NO_EFFECT,
    STRING,
    ConfigDef,
    table,
)
from kbroker.config.validators import ListOf, Pattern, Range

_VOTERS = Pattern(
    r"[0-9]+@([a-zA-Z0-9.\-]*|\[[0-9a-fA-F:%]+\]):[0-9]+",
    "Invalid configuration value for {name}. "
    "Each entry should be in the form `{id}@{host}:{port}`.",
)
_SERVERS = Pattern(
    r"([a-zA-Z0-9._\-]+|\[[0-9a-fA-F:%]+\]):[0-9]+",
    "Failed to parse host name from {entry} for the configuration {name}. "
    'Each entry should be in the form "{host}:{port}"',
)

CLUSTER_CONFIGS = table(
    ConfigDef(
        "broker.heartbeat.interval.ms",
        INT,
        2_000,
        "How often a broker tells the cluster that it is alive.",
    ),
    ConfigDef("broker.id", INT, -1, "The old name of node.id."),
    ConfigDef(
        "broker.session.timeout.ms",
        INT,
        9_000,
        "How long a broker may stay silent before it counts as gone.",
    ),
    ConfigDef(
        "controller.listener.names",
        LIST,
        None,
        NO_EFFECT,
        ListOf(may_be_empty=False),
        required=True,
    ),
    ConfigDef(
        "controller.performance.always.log.threshold.ms",
        LONG,
        2_000,
        NO_EFFECT,
        Range(0),
        internal=True,
    ),
    ConfigDef(
        "controller.performance.sample.period.ms",
        LONG,
        60_000,
        NO_EFFECT,
        Range(100),
        internal=True,
    ),
    ConfigDef("controller.quorum.append.linger.ms", INT, 25, NO_EFFECT, Range(0)),
    ConfigDef("controller.quorum.auto.join.enable", BOOLEAN, False, NO_EFFECT),
    ConfigDef("controller.quorum.bootstrap.servers", LIST, (), NO_EFFECT, _SERVERS),
    ConfigDef("controller.quorum.election.backoff.max.ms", INT, 1_000, NO_EFFECT, Range(0)),
    ConfigDef("controller.quorum.election.timeout.ms", INT, 1_000, NO_EFFECT, Range(0)),
    ConfigDef("controller.quorum.fetch.max.bytes", INT, 1_048_576, NO_EFFECT, Range(1)),
    ConfigDef("controller.quorum.fetch.snapshot.max.bytes", INT, 1_048_576, NO_EFFECT, Range(1)),
    ConfigDef("controller.quorum.fetch.timeout.ms", INT, 2_000, NO_EFFECT, Range(0)),
    ConfigDef("controller.quorum.request.timeout.ms", INT, 2_000, NO_EFFECT, Range(0)),
    ConfigDef("controller.quorum.retry.backoff.ms", INT, 20, NO_EFFECT, Range(0)),
    ConfigDef("controller.quorum.voters", LIST, (), NO_EFFECT, _VOTERS),
    ConfigDef("controller.socket.timeout.ms", INT, 30_000, NO_EFFECT),
    ConfigDef(
        "initial.broker.registration.timeout.ms",
        INT,
        60_000,
        "How long a starting broker tries to register with the cluster before it gives up.",
    ),
    ConfigDef("internal.metadata.delete.delay.millis", LONG, 60_000, NO_EFFECT, internal=True),
    ConfigDef("internal.metadata.log.segment.bytes", INT, None, NO_EFFECT, internal=True),
    ConfigDef(
        "internal.metadata.max.batch.size.in.bytes", INT, 8_388_608, NO_EFFECT, internal=True
    ),
    ConfigDef("metadata.log.dir", STRING, None, NO_EFFECT),
    ConfigDef(
        "metadata.log.max.record.bytes.between.snapshots", LONG, 20_971_520, NO_EFFECT, Range(1)
    ),
    ConfigDef("metadata.log.max.snapshot.interval.ms", LONG, 3_600_000, NO_EFFECT, Range(0)),
    ConfigDef("metadata.log.segment.bytes", INT, 1_073_741_824, NO_EFFECT, Range(8_388_608)),
    ConfigDef("metadata.log.segment.ms", LONG, 604_800_000, NO_EFFECT),
    ConfigDef("metadata.max.idle.interval.ms", INT, 500, NO_EFFECT, Range(0)),
    ConfigDef("metadata.max.retention.bytes", LONG, 104_857_600, NO_EFFECT),
    ConfigDef("metadata.max.retention.ms", LONG, 604_800_000, NO_EFFECT),
    ConfigDef(
        "node.id",
        INT,
        None,
        (
            "The number of this broker in the cluster; it is kept in the data directory and "
            "must not change."
        ),
        Range(0),
        required=True,
    ),
    ConfigDef(
        "process.roles",
        LIST,
        None,
        (
            "Accepted for compatibility; every kbroker process is a broker and may become the "
            "controller."
        ),
        ListOf(("broker", "controller"), may_be_empty=False),
        required=True,
    ),
    ConfigDef(
        "server.max.startup.time.ms",
        LONG,
        MAX_LONG,
        "How long the broker may take to start before it gives up.",
        Range(0),
        internal=True,
    ),
    ConfigDef("unstable.api.versions.enable", BOOLEAN, False, NO_EFFECT, internal=True),
    ConfigDef("unstable.feature.versions.enable", BOOLEAN, False, NO_EFFECT, internal=True),
    ConfigDef("background.threads", INT, 10, NO_EFFECT, Range(1), CLUSTER_WIDE),
    ConfigDef("config.providers", LIST, (), NO_EFFECT, ListOf(), CLUSTER_WIDE),
    ConfigDef("kafka.metrics.polling.interval.secs", INT, 10, NO_EFFECT, Range(1)),
    ConfigDef("kafka.metrics.reporters", LIST, (), NO_EFFECT, ListOf()),
    ConfigDef(
        "metric.reporters",
        LIST,
        ("org.apache.kafka.common.metrics.JmxReporter",),
        NO_EFFECT,
        ListOf(),
        CLUSTER_WIDE,
    ),
    ConfigDef("metrics.num.samples", INT, 2, NO_EFFECT, Range(1)),
    ConfigDef("metrics.recording.level", STRING, "INFO", NO_EFFECT),
    ConfigDef("metrics.sample.window.ms", LONG, 30_000, NO_EFFECT, Range(1)),
    ConfigDef(
        "telemetry.max.bytes",
        INT,
        1_048_576,
        "The largest metrics payload a client may push.",
        Range(1),
    ),
)
