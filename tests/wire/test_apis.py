import subprocess
import sys

import pytest

from kbroker.wire import ApiKey, api_spec, request_class, response_class
from kbroker.wire.apis import API_SPECS, request_header_version, response_header_version
from kbroker.wire.message import Request, Response
from kbroker.wire.versions import VersionRange

# The protocol that clients meet, by key: versions, and the first flexible one. Written down here
# once more, so that new definitions cannot change it unnoticed.
PROTOCOL = """
0 3-13 9+ | 1 4-18 12+ | 2 1-11 6+ | 3 0-13 9+ | 8 2-10 8+ | 9 1-10 6+ | 10 0-6 3+ | 11 0-9 6+
12 0-4 4+ | 13 0-5 4+ | 14 0-5 4+ | 15 0-6 5+ | 16 0-5 3+ | 17 0-1 none | 18 0-5 3+ | 19 2-7 5+
20 1-6 4+ | 21 0-2 2+ | 22 0-6 2+ | 23 2-4 4+ | 24 0-5 3+ | 25 0-4 3+ | 26 0-5 3+ | 27 1-2 1+
28 0-6 3+ | 29 1-3 2+ | 30 1-3 2+ | 31 1-3 2+ | 32 1-4 4+ | 33 0-2 2+ | 34 1-2 2+ | 35 1-5 2+
36 0-2 2+ | 37 0-3 2+ | 38 1-3 2+ | 39 1-2 2+ | 40 1-2 2+ | 41 1-3 2+ | 42 0-3 2+ | 43 0-2 2+
44 0-1 1+ | 45 0-1 0+ | 46 0 0+ | 47 0 none | 48 0-1 1+ | 49 0-1 1+ | 50 0 0+ | 51 0 0+
55 0-2 0+ | 57 0-2 0+ | 60 0-2 0+ | 61 0 0+ | 64 0 0+ | 65 0 0+ | 66 0-2 0+ | 68 0-1 0+
69 0-1 0+ | 71 0 0+ | 72 0 0+ | 74 0-1 0+ | 75 0 0+ | 76 1 0+ | 77 1 0+ | 78 1-2 0+
79 1-2 0+ | 80 0-1 0+ | 81 0 0+ | 83 0 0+ | 84 0 0+ | 85 0-1 0+ | 86 0 0+ | 87 0-1 0+
88 0-1 0+ | 89 0-1 0+ | 90 0-1 0+ | 91 0 0+ | 92 0 0+ | 93 0 0+ | 94 0 0+
"""


def test_the_table_holds_the_protocol_and_nothing_else():
    written = [row.split() for row in PROTOCOL.replace("\n", "|").split("|") if row.strip()]
    table = [
        [str(int(spec.key)), str(spec.versions), str(spec.flexible)] for spec in API_SPECS.values()
    ]

    assert len(table) == 79
    assert table == written


def test_every_key_has_a_name_and_every_name_a_row():
    assert list(API_SPECS) == list(ApiKey)


@pytest.mark.parametrize("key", ApiKey)
def test_a_key_leads_to_the_classes_of_its_api(key):
    spec = api_spec(key)
    assert spec is not None
    request, response = request_class(key), response_class(key)

    assert issubclass(request, Request)
    assert issubclass(response, Response)
    assert request.__name__ == f"{spec.name}Request"
    assert response.__name__ == f"{spec.name}Response"
    assert request.api_key == response.api_key == spec.key == key
    assert request.versions == response.versions == spec.versions
    assert request.flexible_versions == response.flexible_versions == spec.flexible


def test_the_same_class_is_found_again():
    assert request_class(1) is request_class(1)
    assert response_class(1) is response_class(1)


# LeaderAndIsr, which Kafka has given up; Vote, of the quorum; keys nobody has defined.
@pytest.mark.parametrize("key", [4, 52, 95, 32767, -1])
def test_a_key_that_is_not_served_to_clients_is_unknown(key):
    assert api_spec(key) is None
    with pytest.raises(KeyError):
        request_class(key)
    with pytest.raises(KeyError):
        response_class(key)
    with pytest.raises(KeyError):
        request_header_version(key, 0)
    with pytest.raises(KeyError):
        response_header_version(key, 0)


def test_an_unstable_version_is_known_but_not_among_the_stable_ones():
    spec = api_spec(ApiKey.INIT_PRODUCER_ID)

    assert spec is not None
    assert spec.versions == VersionRange(0, 6)
    assert spec.stable_versions == VersionRange(0, 5)


@pytest.mark.parametrize(
    ("key", "version", "request_header", "response_header"),
    [
        (ApiKey.PRODUCE, 8, 1, 0),
        (ApiKey.PRODUCE, 9, 2, 1),
        (ApiKey.SASL_HANDSHAKE, 1, 1, 0),
        (ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, 2, 1),
        (ApiKey.API_VERSIONS, 2, 1, 0),
    ],
)
def test_flexible_versions_have_the_newer_headers(key, version, request_header, response_header):
    assert request_header_version(key, version) == request_header
    assert response_header_version(key, version) == response_header


def test_the_answer_to_api_versions_has_the_oldest_header_at_every_version():
    """A client that is newer than the broker must be able to read that answer."""
    headers = {response_header_version(ApiKey.API_VERSIONS, version) for version in range(6)}

    assert headers == {0}
    assert request_header_version(ApiKey.API_VERSIONS, 3) == 2


def run_python(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()


LOADED = "[name for name in sys.modules if name.startswith('kbroker.wire.messages.')]"


def test_importing_the_package_imports_no_message():
    assert run_python(f"import sys, kbroker.wire; print({LOADED})") == "[]"
    assert run_python(f"import sys, kbroker.wire.messages; print({LOADED})") == "[]"


def test_asking_for_a_class_imports_its_module_alone():
    program = f"import sys, kbroker.wire; kbroker.wire.request_class(0); print({LOADED})"

    assert run_python(program) == "['kbroker.wire.messages.produce']"


def test_nothing_is_compiled_before_it_is_needed():
    program = """
import kbroker.wire.message as message
from kbroker.wire import request_class
cls = request_class(0)
print(cls._decoders, cls._encoders, "__init__" in vars(cls))
"""
    assert run_python(program) == "{} {} False"
