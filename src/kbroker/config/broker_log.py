"""Broker configs about data directories, topics and their logs.

Most are the defaults of topic configs; topic_configs.py says which of which.
"""

from kbroker.config.definition import (
    BOOLEAN,
    CLASS,
    CLUSTER_WIDE,
    DOUBLE,
    INT,
    LIST,
    LONG,
    MAX_LONG,
    NO_EFFECT,
    PER_BROKER,
    STRING,
    ConfigDef,
    table,
)
from kbroker.config.validators import GzipLevel, ListOf, OneOf, Range

LOG_CONFIGS = table(
    ConfigDef(
        "auto.create.topics.enable",
        BOOLEAN,
        True,
        "Whether a topic that a client asks about is created when it does not exist.",
    ),
    ConfigDef(
        "compression.gzip.level",
        INT,
        -1,
        "The gzip level of topics that do not set their own.",
        GzipLevel(),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "compression.lz4.level",
        INT,
        9,
        "The lz4 level of topics that do not set their own.",
        Range(1, 17),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "compression.type",
        STRING,
        "producer",
        (
            "The codec of topics that do not set their own; producer keeps whatever each "
            "producer chose."
        ),
        OneOf(("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "compression.zstd.level",
        INT,
        3,
        "The zstd level of topics that do not set their own.",
        Range(-131_072, 22),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "cordoned.log.dirs",
        LIST,
        (),
        "Log directories that get no new partitions; * stands for all of them.",
        ListOf(),
        PER_BROKER,
    ),
    ConfigDef("delete.topic.enable", BOOLEAN, True, "Whether topics can be deleted."),
    ConfigDef(
        "log.cleaner.backoff.ms",
        LONG,
        15_000,
        "How long the cleaner rests when no log needs compaction.",
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.dedupe.buffer.size",
        LONG,
        134_217_728,
        "The memory compaction may use to remember keys.",
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.delete.retention.ms",
        LONG,
        86_400_000,
        "How long compaction keeps tombstones of topics that do not set delete.retention.ms.",
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef("log.cleaner.enable", BOOLEAN, True, "Whether logs are compacted at all."),
    ConfigDef(
        "log.cleaner.io.buffer.load.factor", DOUBLE, 0.9, NO_EFFECT, update_mode=CLUSTER_WIDE
    ),
    ConfigDef("log.cleaner.io.buffer.size", INT, 524_288, NO_EFFECT, Range(0), CLUSTER_WIDE),
    ConfigDef(
        "log.cleaner.io.max.bytes.per.second",
        DOUBLE,
        1.7976931348623157e308,
        "The most bytes per second compaction reads and writes.",
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.max.compaction.lag.ms",
        LONG,
        MAX_LONG,
        (
            "The longest a record stays out of compaction's reach in topics that do not set "
            "max.compaction.lag.ms."
        ),
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.min.cleanable.ratio",
        DOUBLE,
        0.5,
        (
            "The uncompacted share of a log that makes it worth compacting in topics that do "
            "not set min.cleanable.dirty.ratio."
        ),
        Range(0, 1),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.min.compaction.lag.ms",
        LONG,
        0,
        (
            "How long a record is safe from compaction in topics that do not set "
            "min.compaction.lag.ms."
        ),
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef("log.cleaner.threads", INT, 1, NO_EFFECT, Range(0), CLUSTER_WIDE),
    ConfigDef(
        "log.cleanup.policy",
        LIST,
        ("delete",),
        "The cleanup policy of topics that do not set their own: delete, compact or both.",
        ListOf(("compact", "delete")),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.dir",
        LIST,
        ("/tmp/kafka-logs",),  # noqa: S108 - it is Kafka's default
        "The directory for data where log.dirs is not set.",
        ListOf(may_be_empty=False),
    ),
    ConfigDef(
        "log.dir.failure.timeout.ms",
        LONG,
        30_000,
        (
            "How long a broker that cannot report a failed log directory goes on before it "
            "shuts down."
        ),
        Range(1),
    ),
    ConfigDef(
        "log.dirs",
        LIST,
        None,
        "The directories for data, separated by commas; log.dir if not set.",
        ListOf(may_be_empty=False),
    ),
    ConfigDef(
        "log.flush.interval.messages",
        LONG,
        MAX_LONG,
        (
            "The records after which a log is forced to disk in topics that do not set "
            "flush.messages."
        ),
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.flush.interval.ms",
        LONG,
        None,
        (
            "The age of unflushed records at which a log is forced to disk in topics that do "
            "not set flush.ms."
        ),
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.flush.offset.checkpoint.interval.ms",
        INT,
        60_000,
        "How often the recovery points of all logs are written down.",
        Range(0),
    ),
    ConfigDef(
        "log.flush.scheduler.interval.ms",
        LONG,
        MAX_LONG,
        "How often logs are looked at for records that are due to be forced to disk.",
    ),
    ConfigDef(
        "log.flush.start.offset.checkpoint.interval.ms",
        INT,
        60_000,
        "How often the start offsets of all logs are written down.",
        Range(0),
    ),
    ConfigDef(
        "log.index.interval.bytes",
        INT,
        4_096,
        (
            "The bytes between two offset index entries in topics that do not set "
            "index.interval.bytes."
        ),
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.index.size.max.bytes",
        INT,
        10_485_760,
        "The largest index size in topics that do not set segment.index.bytes.",
        Range(4),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.initial.task.delay.ms",
        LONG,
        30_000,
        "How long after start the periodic work on logs begins.",
        Range(0),
        internal=True,
    ),
    ConfigDef("log.local.retention.bytes", LONG, -2, NO_EFFECT, Range(-2), CLUSTER_WIDE),
    ConfigDef("log.local.retention.ms", LONG, -2, NO_EFFECT, Range(-2), CLUSTER_WIDE),
    ConfigDef(
        "log.message.timestamp.after.max.ms",
        LONG,
        3_600_000,
        (
            "How far in the future timestamps may lie in topics that do not set "
            "message.timestamp.after.max.ms."
        ),
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.message.timestamp.before.max.ms",
        LONG,
        MAX_LONG,
        (
            "How far in the past timestamps may lie in topics that do not set "
            "message.timestamp.before.max.ms."
        ),
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.message.timestamp.type",
        STRING,
        "CreateTime",
        "Whose timestamps are kept in topics that do not set message.timestamp.type.",
        OneOf(("CreateTime", "LogAppendTime")),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.preallocate",
        BOOLEAN,
        False,
        "Whether segments are preallocated in topics that do not set preallocate.",
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.retention.bytes",
        LONG,
        -1,
        (
            "The largest size of a partition in topics that do not set retention.bytes; -1 is "
            "without limit."
        ),
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.retention.check.interval.ms",
        LONG,
        300_000,
        "How often logs are looked at for segments to delete.",
        Range(1),
    ),
    ConfigDef(
        "log.retention.hours",
        INT,
        168,
        (
            "How many hours records are kept where neither log.retention.minutes nor "
            "log.retention.ms is set."
        ),
    ),
    ConfigDef(
        "log.retention.minutes",
        INT,
        None,
        "How many minutes records are kept where log.retention.ms is not set.",
    ),
    ConfigDef(
        "log.retention.ms",
        LONG,
        None,
        (
            "How many milliseconds records are kept in topics that do not set retention.ms; -1 "
            "is forever."
        ),
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.roll.hours",
        INT,
        168,
        "After how many hours a new segment begins where log.roll.ms is not set.",
        Range(1),
    ),
    ConfigDef(
        "log.roll.jitter.hours",
        INT,
        0,
        "The largest random delay of a roll in hours, where log.roll.jitter.ms is not set.",
        Range(0),
    ),
    ConfigDef(
        "log.roll.jitter.ms",
        LONG,
        None,
        "The largest random delay of a roll in topics that do not set segment.jitter.ms.",
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.roll.ms",
        LONG,
        None,
        "After how many milliseconds a new segment begins in topics that do not set segment.ms.",
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.segment.bytes",
        INT,
        1_073_741_824,
        "The size of a segment in topics that do not set segment.bytes.",
        Range(1_048_576),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.segment.delete.delay.ms",
        LONG,
        60_000,
        "How long deleted segment files linger in topics that do not set file.delete.delay.ms.",
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "message.max.bytes",
        INT,
        1_048_588,
        "The largest batch that is accepted in topics that do not set max.message.bytes.",
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "num.partitions",
        INT,
        1,
        "How many partitions a topic gets that is created without a number.",
        Range(1),
    ),
    ConfigDef(
        "num.recovery.threads.per.data.dir",
        INT,
        2,
        "How many threads recover the logs of one directory at start.",
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef("create.topic.policy.class.name", CLASS, None, NO_EFFECT),
    ConfigDef("alter.config.policy.class.name", CLASS, None, NO_EFFECT),
)
