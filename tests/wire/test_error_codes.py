from pathlib import Path

import pytest
from tools.apache_kafka import run_java

from kbroker.wire import ApiKey, ErrorCode
from kbroker.wire.apis import API_SPECS
from tests.wire.definitions import CLIENTS_JAR

DUMP = Path(__file__).parents[2] / "tools" / "java" / "DumpProtocol.java"


def test_a_code_is_an_integer_with_kafkas_name():
    assert ErrorCode.UNSUPPORTED_VERSION == 35
    assert ErrorCode(3) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ErrorCode.UNKNOWN_SERVER_ERROR == -1


def test_success_is_zero():
    assert ErrorCode.NONE == 0
    assert not ErrorCode.NONE.retriable


def test_a_number_that_kafka_does_not_use_is_no_code():
    with pytest.raises(ValueError, match="32000"):
        ErrorCode(32000)


def test_clients_retry_what_passes_and_give_up_on_what_stays():
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.retriable
    assert ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.retriable
    assert not ErrorCode.MESSAGE_TOO_LARGE.retriable
    assert not ErrorCode.INVALID_PRODUCER_EPOCH.retriable


@pytest.fixture(scope="module")
def protocol() -> list[list[str]]:
    """Kafka's own names: lines of words, see tools/java/DumpProtocol.java."""
    if not CLIENTS_JAR.exists():
        pytest.fail(f"{CLIENTS_JAR.name} is not installed: run `make java`")
    return [line.split() for line in run_java(DUMP, first=[CLIENTS_JAR]).decode().splitlines()]


@pytest.mark.java
def test_the_codes_are_those_of_kafka(protocol):
    kafka = {
        (name, int(number), how == "retriable")
        for kind, number, name, *rest in protocol
        if kind == "error"
        for how in rest
    }

    assert {(code.name, int(code), code.retriable) for code in ErrorCode} == kafka
    assert len(ErrorCode.__members__) == len(kafka), "no code has a second name"


@pytest.mark.java
def test_the_api_keys_have_kafkas_names(protocol):
    kafka = {int(number): name for kind, number, name, *_ in protocol if kind == "api"}

    assert {key.name for key in ApiKey} == {kafka[key] for key in API_SPECS}
    assert all(kafka[key] == key.name for key in ApiKey)
