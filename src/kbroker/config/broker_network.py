"""Broker configs about listeners, connections and the size of requests."""

from kbroker.config.definition import (
    CLUSTER_WIDE,
    INT,
    LIST,
    LONG,
    MAX_INT,
    NO_EFFECT,
    PER_BROKER,
    STRING,
    ConfigDef,
    table,
)
from kbroker.config.validators import ListOf, Range

NETWORK_CONFIGS = table(
    ConfigDef(
        "advertised.listeners",
        LIST,
        None,
        "The addresses clients are told to connect to; the listeners themselves if not set.",
        ListOf(may_be_empty=False),
    ),
    ConfigDef(
        "connection.failed.authentication.delay.ms",
        INT,
        100,
        (
            "How long a failed authentication waits before its connection is closed, to slow "
            "down guessing."
        ),
        Range(0),
    ),
    ConfigDef(
        "connections.max.idle.ms",
        LONG,
        600_000,
        "How long a connection may stay silent before it is closed.",
    ),
    ConfigDef(
        "connections.max.reauth.ms",
        LONG,
        0,
        (
            "How long a SASL session lasts before the client must authenticate again; 0 is "
            "without limit."
        ),
    ),
    ConfigDef("early.start.listeners", LIST, None, NO_EFFECT, ListOf()),
    ConfigDef(
        "listener.security.protocol.map",
        STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "Which security protocol each listener name stands for, as NAME:PROTOCOL pairs.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "listeners",
        LIST,
        ("PLAINTEXT://:9092",),
        (
            "The addresses the broker listens on, as NAME://host:port; an empty host means all "
            "interfaces."
        ),
        ListOf(may_be_empty=False),
        PER_BROKER,
    ),
    ConfigDef(
        "inter.broker.listener.name",
        STRING,
        None,
        "The listener that brokers reach each other through.",
    ),
    ConfigDef(
        "max.connection.creation.rate",
        INT,
        MAX_INT,
        "How many connections per second are accepted.",
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "max.connections",
        INT,
        MAX_INT,
        "How many connections may be open at a time.",
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "max.connections.per.ip",
        INT,
        MAX_INT,
        "How many connections one address may hold open.",
        Range(0),
        CLUSTER_WIDE,
    ),
    ConfigDef(
        "max.connections.per.ip.overrides",
        STRING,
        "",
        "Limits for single addresses that replace max.connections.per.ip, as host:count pairs.",
        update_mode=CLUSTER_WIDE,
    ),
    ConfigDef("num.io.threads", INT, 8, NO_EFFECT, Range(1), CLUSTER_WIDE),
    ConfigDef("num.network.threads", INT, 3, NO_EFFECT, Range(1), CLUSTER_WIDE),
    ConfigDef("queued.max.request.bytes", LONG, -1, NO_EFFECT),
    ConfigDef("queued.max.requests", INT, 500, NO_EFFECT, Range(1)),
    ConfigDef(
        "request.timeout.ms",
        INT,
        30_000,
        "How long the broker waits for the answer to a request it sends to another broker.",
    ),
    ConfigDef(
        "socket.connection.setup.timeout.max.ms",
        LONG,
        30_000,
        "The longest time to wait for a connection to another broker, after repeated failures.",
    ),
    ConfigDef(
        "socket.connection.setup.timeout.ms",
        LONG,
        10_000,
        "The time to wait for a connection to another broker at the first attempt.",
    ),
    ConfigDef(
        "socket.listen.backlog.size",
        INT,
        50,
        "How many connections may wait to be accepted.",
        Range(1),
    ),
    ConfigDef(
        "socket.receive.buffer.bytes",
        INT,
        102_400,
        (
            "The size of a client connection's receive buffer in the kernel; -1 leaves it to "
            "the system."
        ),
    ),
    ConfigDef(
        "socket.request.max.bytes",
        INT,
        104_857_600,
        "The largest request that is read; a larger one closes the connection.",
        Range(1),
    ),
    ConfigDef(
        "socket.send.buffer.bytes",
        INT,
        102_400,
        "The size of a client connection's send buffer in the kernel; -1 leaves it to the system.",
    ),
    ConfigDef(
        "max.request.partition.size.limit",
        INT,
        2_000,
        (
            "How many partitions one DescribeTopicPartitions answer holds before the client "
            "must ask on."
        ),
        Range(1),
    ),
    ConfigDef(
        "fetch.max.bytes",
        INT,
        57_671_680,
        (
            "The most bytes one fetch is answered with; the first batch goes out even if it is "
            "larger."
        ),
        Range(1_024),
    ),
    ConfigDef(
        "max.incremental.fetch.session.cache.slots",
        INT,
        1_000,
        "How many incremental fetch sessions are remembered.",
        Range(0),
    ),
    ConfigDef("fetch.purgatory.purge.interval.requests", INT, 1_000, NO_EFFECT),
    ConfigDef("producer.purgatory.purge.interval.requests", INT, 1_000, NO_EFFECT),
    ConfigDef("delete.records.purgatory.purge.interval.requests", INT, 1, NO_EFFECT),
    ConfigDef("share.fetch.purgatory.purge.interval.requests", INT, 1_000, NO_EFFECT),
)
