import pytest

from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
)
from tests.handlers.administrator import more

NONE = (ErrorCode.NONE, None)


@pytest.mark.parametrize("version", [*CreatePartitionsRequest.versions])
def test_every_version_adds_partitions(admin, version):
    admin.must_create("t", 1)

    request = CreatePartitionsRequest(topics=[more("t", 3)], timeout_ms=30_000)
    answer = admin.ask(request, CreatePartitionsResponse, version=version)

    assert [(one.name, one.error_code, one.error_message) for one in answer.results] == [
        ("t", 0, None)
    ]
    assert admin.partitions_of("t") == 3


def test_a_manual_assignment_is_for_the_new_partitions_only(admin):
    admin.must_create("t", 2)

    assert admin.add_partitions(more("t", 4, [[1], [1]])) == {"t": NONE}
    assert admin.partitions_of("t") == 4


def test_there_are_never_fewer_partitions(admin):
    admin.must_create("t", 2)

    assert admin.add_partitions(more("t", 2))["t"] == (
        ErrorCode.INVALID_PARTITIONS,
        "Topic already has 2 partition(s).",
    )
    for count in (1, 0, -1):
        error, message = admin.add_partitions(more("t", count))["t"]
        assert error is ErrorCode.INVALID_PARTITIONS
        assert "would not be an increase" in message
    assert admin.partitions_of("t") == 2


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (more("nope", 4), "UNKNOWN_TOPIC_OR_PARTITION"),
        (more("t", 4, [[1]]), "INVALID_REPLICA_ASSIGNMENT"),
        (more("t", 2, [[7]]), "INVALID_REPLICA_ASSIGNMENT"),
        (more("t", 2, [[1, 1]]), "INVALID_REPLICA_ASSIGNMENT"),
        (more("t", 2, [[]]), "INVALID_REPLICA_ASSIGNMENT"),
        (more("t", 20_000), "POLICY_VIOLATION"),
    ],
)
def test_what_kafka_refuses_is_refused(admin, asked, error):
    admin.must_create("t", 1)

    assert admin.add_partitions(asked)[asked.name][0] is ErrorCode[error]
    assert admin.partitions_of("t") == 1


def test_a_topic_named_twice_is_left_alone(admin):
    admin.must_create("t", 1)

    assert admin.add_partitions(more("t", 2), more("t", 3)) == {
        "t": (ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    }
    assert admin.partitions_of("t") == 1


def test_validating_adds_nothing(admin):
    admin.must_create("t", 1)

    assert admin.add_partitions(more("t", 3), validate_only=True) == {"t": NONE}
    assert admin.partitions_of("t") == 1


def test_without_time_nothing_is_added(admin):
    admin.must_create("t", 1)

    assert admin.add_partitions(more("t", 3), timeout_ms=0)["t"][0] is ErrorCode.REQUEST_TIMED_OUT
    assert admin.partitions_of("t") == 1
