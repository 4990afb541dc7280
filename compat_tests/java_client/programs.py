"""Kafka's Java clients as client programs: one program, compiled against each version."""

from compat_tests.java_client import VERSIONS
from compat_tests.program import ClientProgram
from compat_tests.python_programs import ROOT

_JARS = ROOT / ".cache" / "jars"
_CLASSES = ROOT / ".cache" / "java_clients"
_KAFKA = _JARS / "kafka-4.3.1"

_NO_CONSUMER_PROTOCOL = "group.protocol came with 3.7"
_NOT_APPLICABLE = {
    "2.8.2": {
        "group: KIP-848": _NO_CONSUMER_PROTOCOL,
        "static member, KIP-848": _NO_CONSUMER_PROTOCOL,
    },
}


def _java(version: str, main_class: str) -> tuple[str, ...]:
    own = _JARS / f"clients-{version}"
    jars = [_CLASSES / version]
    # The version's own jars win; JSON for the program is the broker's.
    jars += [own / "*", *sorted(_KAFKA.glob("jackson-*.jar"))] if own.exists() else [_KAFKA / "*"]
    words = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return (*words, "-cp", ":".join(map(str, jars)), main_class)


PROGRAMS = tuple(
    ClientProgram(
        name="Java",
        version=version,
        folder="java_client",
        serve=_java(version, "ScenarioClient"),
        member=_java(version, "Member"),
        needs=_CLASSES / version / "ScenarioClient.class",
        installed_by="make java",
        not_applicable=_NOT_APPLICABLE.get(version, {}),
    )
    for version in VERSIONS
)
