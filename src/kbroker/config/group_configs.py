"""Every config a group can have, and the broker config that gives the default.

Each kind of group has its own: consumer (KIP-848), share (KIP-932) and streams
(KIP-1071). Classic groups have none; their members send their timeouts themselves.
"""

from kbroker.config.definition import BOOLEAN, INT, STRING, ConfigDef, Synonym, table
from kbroker.config.validators import OffsetReset, OneOf, Range

GROUP_CONFIGS = table(
    ConfigDef(
        "consumer.assignment.interval.ms",
        INT,
        1_000,
        "The shortest time between two new assignments of this consumer group.",
        Range(0),
        synonyms=(Synonym("group.consumer.assignment.interval.ms"),),
    ),
    ConfigDef(
        "consumer.heartbeat.interval.ms",
        INT,
        5_000,
        "How often members of this consumer group are told to send heartbeats.",
        Range(1),
        synonyms=(Synonym("group.consumer.heartbeat.interval.ms"),),
    ),
    ConfigDef(
        "consumer.session.timeout.ms",
        INT,
        45_000,
        "How long a member of this consumer group may stay silent before it is removed.",
        Range(1),
        synonyms=(Synonym("group.consumer.session.timeout.ms"),),
    ),
    ConfigDef(
        "share.assignment.interval.ms",
        INT,
        1_000,
        "The shortest time between two new assignments of this share group.",
        Range(0),
        synonyms=(Synonym("group.share.assignment.interval.ms"),),
    ),
    ConfigDef(
        "share.auto.offset.reset",
        STRING,
        "latest",
        (
            "Where a share group begins in a partition it has no position in: earliest, latest, "
            "or by_duration: and how far back."
        ),
        OffsetReset(),
    ),
    ConfigDef(
        "share.delivery.count.limit",
        INT,
        5,
        "How often one record is delivered to a share group before it is given up.",
        Range(2),
        synonyms=(Synonym("group.share.delivery.count.limit"),),
    ),
    ConfigDef(
        "share.heartbeat.interval.ms",
        INT,
        5_000,
        "How often members of this share group are told to send heartbeats.",
        Range(1),
        synonyms=(Synonym("group.share.heartbeat.interval.ms"),),
    ),
    ConfigDef(
        "share.isolation.level",
        STRING,
        "read_uncommitted",
        "Whether a share group sees the records of aborted and open transactions.",
        OneOf(("read_committed", "read_uncommitted")),
    ),
    ConfigDef(
        "share.partition.max.record.locks",
        INT,
        2_000,
        "How many records of one partition may be held by a share group at a time.",
        Range(100),
        synonyms=(Synonym("group.share.partition.max.record.locks"),),
    ),
    ConfigDef(
        "share.record.lock.duration.ms",
        INT,
        30_000,
        "How long a consumer of a share group holds a record before it is offered to another.",
        Range(1_000),
        synonyms=(Synonym("group.share.record.lock.duration.ms"),),
    ),
    ConfigDef(
        "share.renew.acknowledge.enable",
        BOOLEAN,
        True,
        "Whether a consumer of a share group may prolong its hold on a record.",
    ),
    ConfigDef(
        "share.session.timeout.ms",
        INT,
        45_000,
        "How long a member of this share group may stay silent before it is removed.",
        Range(1),
        synonyms=(Synonym("group.share.session.timeout.ms"),),
    ),
    ConfigDef(
        "streams.assignment.interval.ms",
        INT,
        1_000,
        "The shortest time between two new assignments of this streams group.",
        Range(0),
        synonyms=(Synonym("group.streams.assignment.interval.ms"),),
    ),
    ConfigDef(
        "streams.heartbeat.interval.ms",
        INT,
        5_000,
        "How often members of this streams group are told to send heartbeats.",
        Range(1),
        synonyms=(Synonym("group.streams.heartbeat.interval.ms"),),
    ),
    ConfigDef(
        "streams.initial.rebalance.delay.ms",
        INT,
        3_000,
        "How long the first assignment of a new streams group waits for more members.",
        Range(0),
        synonyms=(Synonym("group.streams.initial.rebalance.delay.ms"),),
    ),
    ConfigDef(
        "streams.num.standby.replicas",
        INT,
        0,
        "How many standby copies each stateful task of this streams group gets.",
        Range(0),
        synonyms=(Synonym("group.streams.num.standby.replicas"),),
    ),
    ConfigDef(
        "streams.session.timeout.ms",
        INT,
        45_000,
        "How long a member of this streams group may stay silent before it is removed.",
        Range(1),
        synonyms=(Synonym("group.streams.session.timeout.ms"),),
    ),
)
