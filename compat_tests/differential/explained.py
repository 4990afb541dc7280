"""The differences that are meant, or that are Kafka's own mistakes, each with its reason.

A reason is the title of a section in FINDINGS.md, which says more. Values are given where they are
the same in all fields that an explanation covers.
"""

from compat_tests.differential.comparison import ABSENT, ANYTHING, Explanation

UNKNOWN = "UNKNOWN_SERVER_ERROR"


def _because(reason: str, *covered: tuple[object, ...]) -> tuple[Explanation, ...]:
    """Explanations of one reason: step, field, and perhaps what Kafka and kbroker answer."""
    made = []
    for step, field, *values in covered:
        assert isinstance(step, str)
        assert isinstance(field, str)
        named = dict(zip(("kafka", "kbroker"), values, strict=False))
        made.append(Explanation(step, field, reason, **named))  # type: ignore[arg-type]
    return tuple(made)


_RELEASES = _because(
    "kbroker speaks the messages of Kafka 4.4",
    ("api versions *", "api_keys[*].max_version"),
    ("ApiVersions v-1", "frame"),
)

_NOT_SERVED = _because(
    "Some APIs are not served yet",
    ("api versions *", "api_keys[*].*", ANYTHING, ABSENT),
)

_FEATURES = _because(
    "Features are finalised when they are real",
    ("api versions *", "supported_features[*].*", ANYTHING, ABSENT),
    ("api versions *", "finalized_features[*].*", ANYTHING, ABSENT),
)

_METADATA = (
    *_because(
        "A topic with neither name nor id is an invalid request",
        ("metadata by neither id nor name", "*error_code", UNKNOWN, "INVALID_REQUEST"),
    ),
    *_because(
        "Names count beside ids",
        ("metadata by id, and another by name", "topics[meta.dotted].*", ABSENT),
    ),
)

_WORDS = _because(
    "kbroker says in words what was wrong",
    ("*", "*error_message", "None", "<words>"),
    ("configs of *", "results[2 nowhere].error_message", "''", "None"),
)

_PRODUCE = (
    *_because(
        "Topics without partitions are answered as they were asked",
        ("produce to no partition", "responses*"),
    ),
    *_because(
        "Misshapen batches are answered with the log start offset",
        ("produce *", "*.log_start_offset", -1, 0),
        ("two batches of a producer in one", "*.log_start_offset", -1, 0),
    ),
    *_because(
        "Bytes behind a batch are an error",
        ("produce bytes behind a batch", "*.error_code", "NONE", "INVALID_RECORD"),
        ("produce bytes behind a batch", "*.base_offset", 0, -1),
        ("fetch bytes behind a batch", "*"),
    ),
    *_because(
        "Undefined compression is an unsupported one",
        ("produce compression type 5", "*.error_code", UNKNOWN, "UNSUPPORTED_COMPRESSION_TYPE"),
    ),
    *_because(
        "Records stay closed",
        ("fetch a max timestamp that is too low", "*.max_timestamp_ms", "t0+1000", "t0+0"),
        ("produce gzip that is none", "*"),
        ("fetch gzip that is none", "*"),
        ("produce lz4 that is none", "*"),
        ("fetch lz4 that is none", "*"),
        ("produce a record *", "*"),
        ("fetch a record *", "*"),
        ("fetch records without time", "*.records[1].max_timestamp_ms", -1, -5),
    ),
    *_because(
        "Kafka does not answer null records",
        ("produce null records", "connection", "silent", ABSENT),
        ("produce null records", "frame", ABSENT),
    ),
    *_because(
        "Two libraries pack gzip differently",
        ("fetch what was produced to squeezed", "*.records"),
    ),
)

_FETCH = (
    *_because(
        "Negative limits are no error",
        ("fetch at most -1 bytes*", "*"),
    ),
    *_because(
        "An error does not wait for data",
        ("fetch from the end and nowhere, waiting", "time", "waited", "at once"),
    ),
    *_because(
        "Unknown isolation levels read what is uncommitted",
        ("fetch with isolation level *", "*"),
        ("offset of * with isolation level 2", "*"),
    ),
    *_because(
        "A partition that is named twice is served twice",
        ("produce to one partition twice", "*.partition_responses[39#2].*", ABSENT),
        ("fetch from one partition written twice", "*"),
        ("fetch one partition twice", "*"),
        ("two offsets of one partition", "topics[listed].partitions[0#2].*", ABSENT),
    ),
    *_because(
        "Strangers are not told who leads",
        ("fetch as broker 7 by id", "*.current_leader*"),
    ),
    *_because(
        "A session of nothing is none",
        ("a session of nothing", "session_id", "<session>", 0),
    ),
    *_because(
        "Any negative epoch is none",
        ("latest offset in leader epoch -2", "*"),
        ("end of epoch 0, asked in epoch -2", "*"),
    ),
)

_OFFSETS = (
    *_because(
        "Deleted segments are not searched by time",
        ("t0 after deleting 3", "topics[segmented].partitions[0].*", -1),
        ("t0 after deleting 6", "topics[segmented].partitions[0].*", -1),
    ),
    *_because(
        "A record without time has not the largest one",
        ("offset of -3 among records without time", "*", 0, -1),
    ),
)

_CONFIGS = (
    *_because(
        "The defaults of internal configs are not shown",
        (
            "configs of the broker with synonyms",
            "results[4 1].configs[log.initial.task.delay.ms].synonyms[1].*",
            ANYTHING,
            ABSENT,
        ),
    ),
    *_because(
        "Two brokers live in different places",
        *(
            ("configs of the broker*", f"results[4 1].configs[{name}].*")
            for name in (
                "advertised.listeners",
                "controller.listener.names",
                "controller.quorum.voters",
                "listeners",
                "log.dirs",
                "process.roles",
            )
        ),
    ),
    *_because(
        "Kafka does not answer one resource twice",
        ("set one topic twice", "connection", "silent", ABSENT),
        ("set one topic twice", "frame", ABSENT),
    ),
    *_because(
        "Unknown operations are an invalid request",
        ("alter by operation 4", "*.error_code", UNKNOWN, "INVALID_REQUEST"),
    ),
)

_COORDINATORS = _because(
    "Share groups have no coordinator yet",
    ("share coordinator of a bad *", "*.error_code"),
    ("share coordinator of a bad *", "*.error_message", "''", "<words>"),
)

_GROUPS = _because(
    "A refused member leaves no group behind",
    ("list groups *", "groups[refused].*", ANYTHING, ABSENT),
)

_QUORUM = _because(
    "The quorum is a store",
    ("quorum of the metadata v*", "topics[__cluster_metadata].partitions[0].leader_epoch"),
    ("quorum of the metadata v*", "topics[__cluster_metadata].partitions[0].high_watermark"),
    ("quorum of the metadata v*", "*.current_voters[?].log_end_offset"),
    ("quorum of the metadata v2", "nodes[1].listeners*"),
)

EXPLAINED: tuple[Explanation, ...] = (
    *_RELEASES,
    *_NOT_SERVED,
    *_FEATURES,
    *_METADATA,
    *_WORDS,
    *_PRODUCE,
    *_FETCH,
    *_OFFSETS,
    *_CONFIGS,
    *_COORDINATORS,
    *_GROUPS,
    *_QUORUM,
)
