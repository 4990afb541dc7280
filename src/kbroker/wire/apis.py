"""The API table, and the lazy way from a key to its message classes.

A message module is imported when its API is first asked for: most brokers never see most APIs.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from kbroker.wire.api_keys import ApiKey
from kbroker.wire.api_table import API_TABLE
from kbroker.wire.versions import VersionRange, parse_versions

if TYPE_CHECKING:
    from kbroker.wire.message import Request, Response


@dataclass(frozen=True, slots=True)
class ApiSpec:
    """One API of the broker listener.

    ``versions`` are all that its messages know; ``stable_versions`` leave out a newest version
    that Kafka itself does not promise to keep. ``module`` is its place in ``wire/messages``.
    """

    key: ApiKey
    name: str
    versions: VersionRange
    stable_versions: VersionRange
    flexible: VersionRange
    module: str


# By key, in the order of the keys.
API_SPECS: dict[int, ApiSpec] = {
    key: ApiSpec(
        ApiKey(key),
        name,
        parse_versions(versions),
        parse_versions(stable),
        parse_versions(flexible),
        module,
    )
    for key, name, versions, stable, flexible, module in API_TABLE
}


def api_spec(key: int) -> ApiSpec | None:
    """What is known about the API ``key``; None if it is not one of the broker listener."""
    return API_SPECS.get(key)


def request_class(key: int) -> "type[Request]":
    """The class of the requests of API ``key``; KeyError if there is no such API."""
    found = _requests.get(key)
    if found is None:
        found = _requests[key] = cast("type[Request]", _message_class(key, "Request"))
    return found


def response_class(key: int) -> "type[Response]":
    """The class of the responses of API ``key``; KeyError if there is no such API."""
    found = _responses.get(key)
    if found is None:
        found = _responses[key] = cast("type[Response]", _message_class(key, "Response"))
    return found


def request_header_version(key: int, version: int) -> int:
    """2 if the request is flexible, else 1; KeyError if there is no such API.

    The two differ in tagged fields behind the client id (KIP-482).
    """
    return 2 if version in API_SPECS[key].flexible else 1


def response_header_version(key: int, version: int) -> int:
    """1 if the response is flexible, else 0; KeyError if there is no such API.

    ApiVersions is 0 at every version: a client that asks for a version we do not know must be
    able to read the answer, whose body is then version 0 (KIP-511).
    """
    return int(key != ApiKey.API_VERSIONS and version in API_SPECS[key].flexible)


def _message_class(key: int, suffix: str) -> object:
    spec = API_SPECS[key]
    return getattr(import_module(f"kbroker.wire.messages.{spec.module}"), spec.name + suffix)


_requests: "dict[int, type[Request]]" = {}
_responses: "dict[int, type[Response]]" = {}
