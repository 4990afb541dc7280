"""Where the definitions lie, and which of them we take.

The clients jar holds requests, responses, headers and the consumer protocol; three coordinator
jars hold what the internal topics store. The latter are those of the broker we compare with:
the newest definitions exist as a clients jar only.
"""

import json
import re
import zipfile
from pathlib import Path

from tools.messages.definitions import MessageDefinition, parse_message

_JARS = Path(__file__).parent.parent.parent / ".cache" / "jars"
CLIENTS_JAR = _JARS / "definitions-4.4.0" / "kafka-clients-4.4.0.jar"
COORDINATOR_JARS = tuple(
    _JARS / "kafka-4.3.1" / f"kafka-{coordinator}-coordinator-4.3.1.jar"
    for coordinator in ("group", "transaction", "share")
)

_HEADERS = ("RequestHeader", "ResponseHeader")
_CONSUMER_PROTOCOL = ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")


class MissingJarError(Exception):
    """A jar with definitions is not installed."""


def read_definitions(jar: Path) -> dict[str, MessageDefinition]:
    """Every definition in ``jar`` that still has a version, by name; MissingJarError without it."""
    if not jar.exists():
        raise MissingJarError(f"{jar} is missing: run `make java`")
    found = {}
    with zipfile.ZipFile(jar) as archive:
        for path in sorted(archive.namelist()):
            if path.startswith("common/message/") and path.endswith(".json"):
                # A comment has its lines for itself; "//" elsewhere is part of an address.
                text = re.sub(r"^\s*//.*$", "", archive.read(path).decode(), flags=re.MULTILINE)
                node = json.loads(text)
                if node["validVersions"] != "none":
                    found[node["name"]] = parse_message(node)
    return found


def read_modules() -> dict[str, tuple[MessageDefinition, ...]]:
    """The definitions of each module to write, by a name in Kafka's spelling.

    An API is one module (its request and response), so is a record (its key and value).
    """
    clients = read_definitions(CLIENTS_JAR)
    modules: dict[str, tuple[MessageDefinition, ...]] = {}
    for name, request in clients.items():
        if "broker" in request.listeners:
            api = name.removesuffix("Request")
            modules[api] = (request, clients[f"{api}Response"])
    modules["Headers"] = tuple(clients[name] for name in _HEADERS)
    modules["ConsumerProtocol"] = tuple(clients[name] for name in _CONSUMER_PROTOCOL)
    for jar in COORDINATOR_JARS:
        stored = read_definitions(jar)
        for name, key in stored.items():
            if key.kind == "coordinator-key":
                record = name.removesuffix("Key")
                modules[f"{record}Record"] = (key, stored[f"{record}Value"])
    return modules
