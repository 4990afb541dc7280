"""Broker configs about tiered storage, which kbroker does not have."""

from kbroker.config.definition import (
    BOOLEAN,
    CLUSTER_WIDE,
    DOUBLE,
    INT,
    LONG,
    MAX_LONG,
    NO_EFFECT,
    STRING,
    ConfigDef,
    table,
)
from kbroker.config.validators import NonEmpty, Range

TIERED_STORAGE_CONFIGS = table(
    ConfigDef("remote.fetch.max.wait.ms", INT, 500, NO_EFFECT, Range(1), CLUSTER_WIDE),
    ConfigDef(
        "remote.list.offsets.request.timeout.ms", LONG, 30_000, NO_EFFECT, Range(1), CLUSTER_WIDE
    ),
    ConfigDef(
        "remote.log.index.file.cache.total.size.bytes",
        LONG,
        1_073_741_824,
        NO_EFFECT,
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "remote.log.index.file.cache.ttl.ms", LONG, 900_000, NO_EFFECT, Range(-1), internal=True
    ),
    ConfigDef(
        "remote.log.manager.copier.thread.pool.size", INT, 10, NO_EFFECT, Range(1), CLUSTER_WIDE
    ),
    ConfigDef(
        "remote.log.manager.copy.max.bytes.per.second",
        LONG,
        MAX_LONG,
        NO_EFFECT,
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef("remote.log.manager.copy.quota.window.num", INT, 11, NO_EFFECT, Range(1)),
    ConfigDef("remote.log.manager.copy.quota.window.size.seconds", INT, 1, NO_EFFECT, Range(1)),
    ConfigDef(
        "remote.log.manager.expiration.thread.pool.size", INT, 10, NO_EFFECT, Range(1), CLUSTER_WIDE
    ),
    ConfigDef(
        "remote.log.manager.fetch.max.bytes.per.second",
        LONG,
        MAX_LONG,
        NO_EFFECT,
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef("remote.log.manager.fetch.quota.window.num", INT, 11, NO_EFFECT, Range(1)),
    ConfigDef("remote.log.manager.fetch.quota.window.size.seconds", INT, 1, NO_EFFECT, Range(1)),
    ConfigDef(
        "remote.log.manager.follower.thread.pool.size", INT, 2, NO_EFFECT, Range(1), CLUSTER_WIDE
    ),
    ConfigDef("remote.log.manager.task.interval.ms", LONG, 30_000, NO_EFFECT, Range(1)),
    ConfigDef(
        "remote.log.manager.task.retry.backoff.max.ms",
        LONG,
        30_000,
        NO_EFFECT,
        Range(1),
        internal=True,
    ),
    ConfigDef(
        "remote.log.manager.task.retry.backoff.ms", LONG, 500, NO_EFFECT, Range(1), internal=True
    ),
    ConfigDef(
        "remote.log.manager.task.retry.jitter", DOUBLE, 0.2, NO_EFFECT, Range(0, 0.5), internal=True
    ),
    ConfigDef("remote.log.manager.thread.pool.size", INT, 2, NO_EFFECT, Range(1)),
    ConfigDef("remote.log.metadata.custom.metadata.max.bytes", INT, 128, NO_EFFECT, Range(0)),
    ConfigDef(
        "remote.log.metadata.manager.class.name",
        STRING,
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        NO_EFFECT,
        NonEmpty(),
    ),
    ConfigDef("remote.log.metadata.manager.class.path", STRING, None, NO_EFFECT),
    ConfigDef(
        "remote.log.metadata.manager.impl.prefix", STRING, "rlmm.config.", NO_EFFECT, NonEmpty()
    ),
    ConfigDef("remote.log.metadata.manager.listener.name", STRING, None, NO_EFFECT, NonEmpty()),
    ConfigDef("remote.log.reader.max.pending.tasks", INT, 100, NO_EFFECT, Range(1)),
    ConfigDef("remote.log.reader.threads", INT, 10, NO_EFFECT, Range(1), CLUSTER_WIDE),
    ConfigDef("remote.log.storage.manager.class.name", STRING, None, NO_EFFECT, NonEmpty()),
    ConfigDef("remote.log.storage.manager.class.path", STRING, None, NO_EFFECT),
    ConfigDef(
        "remote.log.storage.manager.impl.prefix", STRING, "rsm.config.", NO_EFFECT, NonEmpty()
    ),
    ConfigDef("remote.log.storage.system.enable", BOOLEAN, False, NO_EFFECT),
)
