"""Broker configs about transactions and idempotent producers."""

from kbroker.config.definition import BOOLEAN, CLUSTER_WIDE, INT, SHORT, ConfigDef, table
from kbroker.config.validators import Range

TRANSACTION_CONFIGS = table(
    ConfigDef(
        "add.partitions.to.txn.retry.backoff.max.ms",
        INT,
        100,
        (
            "The longest the broker itself retries to add a partition to a transaction that is "
            "still ending."
        ),
        Range(0),
    ),
    ConfigDef(
        "add.partitions.to.txn.retry.backoff.ms",
        INT,
        20,
        (
            "How long the broker waits before it retries to add a partition to a transaction "
            "that is still ending."
        ),
        Range(1),
    ),
    ConfigDef(
        "producer.id.expiration.check.interval.ms",
        INT,
        600_000,
        "How often producers that have been silent for too long are looked for.",
        Range(1),
        internal=True,
    ),
    ConfigDef(
        "producer.id.expiration.ms",
        INT,
        86_400_000,
        "How long a partition remembers an idempotent producer that writes nothing more.",
        Range(1),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        INT,
        10_000,
        "How often transactions that have run out of time are looked for and aborted.",
        Range(1),
    ),
    ConfigDef(
        "transaction.max.timeout.ms",
        INT,
        900_000,
        "The longest transaction timeout a producer may ask for.",
        Range(1),
    ),
    ConfigDef(
        "transaction.partition.verification.enable",
        BOOLEAN,
        True,
        (
            "Whether a partition checks with the coordinator that a transaction is really open "
            "before it takes its first record."
        ),
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        INT,
        3_600_000,
        "How often transactional ids that nobody uses any more are looked for and forgotten.",
        Range(1),
    ),
    ConfigDef(
        "transaction.state.log.load.buffer.size",
        INT,
        5_242_880,
        "How much is read at a time when a coordinator loads the transaction topic.",
        Range(1),
    ),
    ConfigDef(
        "transaction.state.log.min.isr",
        INT,
        2,
        "How many replicas of the transaction topic must hold a write before it counts.",
        Range(1),
    ),
    ConfigDef(
        "transaction.state.log.num.partitions",
        INT,
        50,
        "How many partitions the transaction topic is created with; it must not change later.",
        Range(1),
    ),
    ConfigDef(
        "transaction.state.log.replication.factor",
        SHORT,
        3,
        "How many replicas the transaction topic is created with.",
        Range(1),
    ),
    ConfigDef(
        "transaction.state.log.segment.bytes",
        INT,
        104_857_600,
        "The segment size of the transaction topic; small segments load faster.",
        Range(1),
    ),
    ConfigDef(
        "transaction.two.phase.commit.enable",
        BOOLEAN,
        False,
        (
            "Whether producers may leave transactions prepared for an outside coordinator, free "
            "of timeouts."
        ),
    ),
    ConfigDef(
        "transactional.id.expiration.ms",
        INT,
        604_800_000,
        "How long a transactional id that nobody uses is remembered.",
        Range(1),
    ),
)
