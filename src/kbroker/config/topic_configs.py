"""Every config a topic can have, and the broker configs that give the default.

A topic that sets nothing takes the value of the first synonym that is set on its
broker, and Kafka's own default if none is.
"""

from kbroker.config.definition import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    MAX_LONG,
    STRING,
    ConfigDef,
    Synonym,
    table,
)
from kbroker.config.validators import GzipLevel, ListOf, OneOf, Range, ThrottledReplicas

TOPIC_CONFIGS = table(
    ConfigDef(
        "cleanup.policy",
        LIST,
        ("delete",),
        (
            "What becomes of old records: delete drops whole segments by age and size, compact "
            "keeps the last record of each key, and both may be named together."
        ),
        ListOf(("compact", "delete")),
        synonyms=(Synonym("log.cleanup.policy"),),
    ),
    ConfigDef(
        "compression.gzip.level",
        INT,
        -1,
        "How hard gzip tries when the broker itself compresses with it.",
        GzipLevel(),
        synonyms=(Synonym("compression.gzip.level"),),
    ),
    ConfigDef(
        "compression.lz4.level",
        INT,
        9,
        "How hard lz4 tries when the broker itself compresses with it.",
        Range(1, 17),
        synonyms=(Synonym("compression.lz4.level"),),
    ),
    ConfigDef(
        "compression.type",
        STRING,
        "producer",
        "The codec batches are stored with; producer keeps whatever each producer chose.",
        OneOf(("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")),
        synonyms=(Synonym("compression.type"),),
    ),
    ConfigDef(
        "compression.zstd.level",
        INT,
        3,
        "How hard zstd tries when the broker itself compresses with it.",
        Range(-131_072, 22),
        synonyms=(Synonym("compression.zstd.level"),),
    ),
    ConfigDef(
        "delete.retention.ms",
        LONG,
        86_400_000,
        "How long compaction keeps a tombstone, so that slow readers still learn of the deletion.",
        Range(0),
        synonyms=(Synonym("log.cleaner.delete.retention.ms"),),
    ),
    ConfigDef(
        "file.delete.delay.ms",
        LONG,
        60_000,
        "How long the files of a deleted segment stay on disk for reads that are still under way.",
        Range(0),
        synonyms=(Synonym("log.segment.delete.delay.ms"),),
    ),
    ConfigDef(
        "flush.messages",
        LONG,
        MAX_LONG,
        (
            "Force the log to disk after this many records; usually left to replication and the "
            "operating system."
        ),
        Range(1),
        synonyms=(Synonym("log.flush.interval.messages"),),
    ),
    ConfigDef(
        "flush.ms",
        LONG,
        MAX_LONG,
        "Force the log to disk once its oldest unflushed record is this old.",
        Range(0),
        synonyms=(Synonym("log.flush.interval.ms"), Synonym("log.flush.scheduler.interval.ms")),
    ),
    ConfigDef(
        "follower.replication.throttled.replicas",
        LIST,
        (),
        (
            "The replicas whose following is slowed to the follower's throttled rate, as "
            "partition:broker pairs or * for all."
        ),
        ThrottledReplicas(),
    ),
    ConfigDef(
        "index.interval.bytes",
        INT,
        4_096,
        "About how many bytes of batches lie between two entries of the offset index.",
        Range(0),
        synonyms=(Synonym("log.index.interval.bytes"),),
    ),
    ConfigDef(
        "internal.segment.bytes",
        INT,
        None,
        "A segment size below the usual limit, for tests.",
        internal=True,
    ),
    ConfigDef(
        "leader.replication.throttled.replicas",
        LIST,
        (),
        (
            "The replicas whose serving is slowed to the leader's throttled rate, as "
            "partition:broker pairs or * for all."
        ),
        ThrottledReplicas(),
    ),
    ConfigDef(
        "local.retention.bytes",
        LONG,
        -2,
        (
            "The part of retention.bytes to keep on local disk with tiered storage, which "
            "kbroker does not have; it has no effect."
        ),
        Range(-2),
        synonyms=(Synonym("log.local.retention.bytes"),),
    ),
    ConfigDef(
        "local.retention.ms",
        LONG,
        -2,
        (
            "The part of retention.ms to keep on local disk with tiered storage, which kbroker "
            "does not have; it has no effect."
        ),
        Range(-2),
        synonyms=(Synonym("log.local.retention.ms"),),
    ),
    ConfigDef(
        "max.compaction.lag.ms",
        LONG,
        MAX_LONG,
        "The longest a record may stay out of compaction's reach.",
        Range(1),
        synonyms=(Synonym("log.cleaner.max.compaction.lag.ms"),),
    ),
    ConfigDef(
        "max.message.bytes",
        INT,
        1_048_588,
        "The largest batch a producer may append, after compression.",
        Range(0),
        synonyms=(Synonym("message.max.bytes"),),
    ),
    ConfigDef(
        "message.timestamp.after.max.ms",
        LONG,
        3_600_000,
        "How far a record's timestamp may lie in the future before it is refused.",
        Range(0),
        synonyms=(Synonym("log.message.timestamp.after.max.ms"),),
    ),
    ConfigDef(
        "message.timestamp.before.max.ms",
        LONG,
        MAX_LONG,
        "How far a record's timestamp may lie in the past before it is refused.",
        Range(0),
        synonyms=(Synonym("log.message.timestamp.before.max.ms"),),
    ),
    ConfigDef(
        "message.timestamp.type",
        STRING,
        "CreateTime",
        (
            "Whether a record's timestamp is the producer's (CreateTime) or the broker's at "
            "append (LogAppendTime)."
        ),
        OneOf(("CreateTime", "LogAppendTime")),
        synonyms=(Synonym("log.message.timestamp.type"),),
    ),
    ConfigDef(
        "min.cleanable.dirty.ratio",
        DOUBLE,
        0.5,
        "The share of a log that must be uncompacted before compaction takes it up.",
        Range(0, 1),
        synonyms=(Synonym("log.cleaner.min.cleanable.ratio"),),
    ),
    ConfigDef(
        "min.compaction.lag.ms",
        LONG,
        0,
        "How long a record is safe from compaction after it was written.",
        Range(0),
        synonyms=(Synonym("log.cleaner.min.compaction.lag.ms"),),
    ),
    ConfigDef(
        "min.insync.replicas",
        INT,
        1,
        (
            "How many replicas must hold a record before acks=all is answered; with fewer in "
            "sync such writes are refused."
        ),
        Range(1),
        synonyms=(Synonym("min.insync.replicas"),),
    ),
    ConfigDef(
        "preallocate",
        BOOLEAN,
        False,
        "Whether the disk space of a new segment is reserved when it is created.",
        synonyms=(Synonym("log.preallocate"),),
    ),
    ConfigDef(
        "remote.log.copy.disable",
        BOOLEAN,
        False,
        "Belongs to tiered storage, which kbroker does not have; it has no effect.",
    ),
    ConfigDef(
        "remote.log.delete.on.disable",
        BOOLEAN,
        False,
        "Belongs to tiered storage, which kbroker does not have; it has no effect.",
    ),
    ConfigDef(
        "remote.storage.enable",
        BOOLEAN,
        False,
        (
            "Whether segments move to tiered storage, which kbroker does not have; it cannot be "
            "switched on."
        ),
    ),
    ConfigDef(
        "retention.bytes",
        LONG,
        -1,
        (
            "How large one partition may grow before its oldest segments are deleted; -1 is "
            "without limit."
        ),
        synonyms=(Synonym("log.retention.bytes"),),
    ),
    ConfigDef(
        "retention.ms",
        LONG,
        604_800_000,
        "How old a record may grow before its segment is deleted; -1 is forever.",
        Range(-1),
        synonyms=(
            Synonym("log.retention.ms"),
            Synonym("log.retention.minutes", 60_000),
            Synonym("log.retention.hours", 3_600_000),
        ),
    ),
    ConfigDef(
        "segment.bytes",
        INT,
        1_073_741_824,
        "The size at which a new segment file is begun.",
        Range(1_048_576),
        synonyms=(Synonym("log.segment.bytes"),),
    ),
    ConfigDef(
        "segment.index.bytes",
        INT,
        10_485_760,
        "The largest size of a segment's offset index and time index.",
        Range(4),
        synonyms=(Synonym("log.index.size.max.bytes"),),
    ),
    ConfigDef(
        "segment.jitter.ms",
        LONG,
        0,
        (
            "A random delay up to this long before a segment is rolled by age, so that not all "
            "roll at once."
        ),
        Range(0),
        synonyms=(Synonym("log.roll.jitter.ms"), Synonym("log.roll.jitter.hours", 3_600_000)),
    ),
    ConfigDef(
        "segment.ms",
        LONG,
        604_800_000,
        "The age at which a new segment is begun even if the last one is not full.",
        Range(1),
        synonyms=(Synonym("log.roll.ms"), Synonym("log.roll.hours", 3_600_000)),
    ),
    ConfigDef(
        "unclean.leader.election.enable",
        BOOLEAN,
        False,
        (
            "Whether a replica that is not in sync may become leader as a last resort, at the "
            "price of lost records."
        ),
        synonyms=(Synonym("unclean.leader.election.enable"),),
    ),
)
