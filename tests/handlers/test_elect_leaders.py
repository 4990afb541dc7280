import pytest

from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)


def elect(admin, *topics, election_type=0, version=2, timeout_ms=30_000):
    named = [TopicPartitions(topic=name, partitions=list(indexes)) for name, indexes in topics]
    request = ElectLeadersRequest(
        election_type=election_type, topic_partitions=named or None, timeout_ms=timeout_ms
    )
    return admin.ask(request, ElectLeadersResponse, version=version)


def codes(answer):
    return {
        topic.topic: {
            one.partition_id: ErrorCode(one.error_code).name for one in topic.partition_result
        }
        for topic in answer.replica_election_results
    }


@pytest.mark.parametrize("version", [*ElectLeadersRequest.versions])
def test_a_broker_that_is_alone_leads_already(admin, version):
    admin.must_create("t", 2)

    answer = elect(admin, ("t", [0, 1, 5]), ("nope", [0]), version=version)

    assert answer.error_code == ErrorCode.NONE
    assert codes(answer) == {
        "t": {
            0: "ELECTION_NOT_NEEDED",
            1: "ELECTION_NOT_NEEDED",
            5: "UNKNOWN_TOPIC_OR_PARTITION",
        },
        "nope": {0: "UNKNOWN_TOPIC_OR_PARTITION"},
    }


@pytest.mark.parametrize("election_type", [0, 1])
def test_asking_for_all_finds_none_that_needs_a_leader(admin, election_type):
    admin.must_create("t", 2)

    answer = elect(admin, election_type=election_type)

    assert answer.error_code == ErrorCode.NONE
    assert codes(answer) == {"t": {}}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"election_type": 2}, ErrorCode.INVALID_REQUEST),
        ({"timeout_ms": 0}, ErrorCode.REQUEST_TIMED_OUT),
    ],
)
def test_an_error_of_the_whole_is_told_for_each(admin, arguments, error):
    answer = elect(admin, ("t", [0, 1]), **arguments)

    assert answer.error_code == error
    assert codes(answer) == {"t": {0: error.name, 1: error.name}}
