"""What the keys hold: one small frozen class per kind of key, as JSON with a version.

JSON, because an operator must be able to read and mend it with ``etcdctl``. A reader takes the
fields it knows and leaves the others, so that a newer broker can add some without stopping the
older ones; fields that came later have a default. The version counts changes that an older reader
could not survive; there has been none.

``decode`` raises ValueError, TypeError or KeyError on bytes that no broker wrote; the image, which
knows the key, turns them into MalformedValue.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from kbroker.model import Uuid, uuid_from_text, uuid_to_text

VERSION = 1
NO_LEADER = -1

# One for all: json.dumps makes a new one for each call that wants no spaces, which takes longer
# than the encoding, and a broker that starts writes all its partitions.
_ENCODER = json.JSONEncoder(separators=(",", ":"))


class MalformedValue(Exception):  # noqa: N818 - "raise MalformedValue" says it all
    """A key holds something that no broker wrote; an operator must look at it."""


def _dump(fields: Mapping[str, object]) -> bytes:
    return _ENCODER.encode({"version": VERSION, **fields}).encode()


@dataclass(frozen=True, slots=True)
class ClusterValue:
    """The cluster's id, made once and never changed."""

    cluster_id: str

    def encode(self) -> bytes:
        """As stored under ``cluster``."""
        return _dump({"cluster_id": self.cluster_id})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` wrote."""
        return cls(json.loads(data)["cluster_id"])


@dataclass(frozen=True, slots=True)
class FeaturesValue:
    """Finalised feature levels; a feature at level 0 is not listed."""

    levels: Mapping[str, int]

    def encode(self) -> bytes:
        """As stored under ``features``."""
        return _dump({"levels": dict(self.levels)})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` wrote."""
        levels = json.loads(data)["levels"]
        return cls({str(name): int(level) for name, level in levels.items()})


@dataclass(frozen=True, slots=True)
class ControllerValue:
    """Which node decides."""

    node_id: int

    def encode(self) -> bytes:
        """As stored under ``controller``."""
        return _dump({"node_id": self.node_id})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` wrote."""
        return cls(int(json.loads(data)["node_id"]))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address of a broker, as clients shall reach it."""

    listener: str
    host: str
    port: int
    security_protocol: str = "PLAINTEXT"


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The levels of a feature that a node can work with, both ends included."""

    lowest: int
    highest: int

    def __contains__(self, level: int) -> bool:
        return self.lowest <= level <= self.highest

    def __str__(self) -> str:
        if self.lowest == self.highest:
            return str(self.lowest)
        return f"{self.lowest}-{self.highest}"


@dataclass(frozen=True, slots=True)
class BrokerValue:
    """What a broker says of itself when it registers.

    ``incarnation_id`` is new in every process: it tells a broker whose registration was not
    answered whether the one it finds is its own (M6).
    """

    node_id: int
    incarnation_id: Uuid
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    features: Mapping[str, VersionRange] = field(default_factory=dict)

    def encode(self) -> bytes:
        """As stored under ``brokers/<node id>``."""
        return _dump(
            {
                "node_id": self.node_id,
                "incarnation_id": uuid_to_text(self.incarnation_id),
                "endpoints": [
                    [end.listener, end.host, end.port, end.security_protocol]
                    for end in self.endpoints
                ],
                "rack": self.rack,
                "features": {
                    name: [levels.lowest, levels.highest] for name, levels in self.features.items()
                },
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` wrote."""
        fields = json.loads(data)
        return cls(
            node_id=int(fields["node_id"]),
            incarnation_id=uuid_from_text(fields["incarnation_id"]),
            endpoints=tuple(Endpoint(*end[:4]) for end in fields["endpoints"]),
            rack=fields.get("rack"),
            features={
                str(name): VersionRange(int(levels[0]), int(levels[1]))
                for name, levels in fields.get("features", {}).items()
            },
        )


@dataclass(frozen=True, slots=True)
class TopicValue:
    """That a topic exists, and its id."""

    topic_id: Uuid

    def encode(self) -> bytes:
        """As stored under ``topics/<name>``."""
        return _dump({"topic_id": uuid_to_text(self.topic_id)})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` wrote."""
        return cls(uuid_from_text(json.loads(data)["topic_id"]))


@dataclass(frozen=True, slots=True)
class PartitionValue:
    """The state of one partition; Kafka's PartitionRegistration."""

    replicas: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    def encode(self) -> bytes:
        """As stored under ``partitions/<topic id>/<n>``."""
        return _dump(
            {
                "replicas": self.replicas,
                "leader": self.leader,
                "leader_epoch": self.leader_epoch,
                "partition_epoch": self.partition_epoch,
                "isr": self.isr,
                "elr": self.elr,
                "last_known_elr": self.last_known_elr,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` wrote."""
        fields = json.loads(data)
        return cls(
            tuple(fields["replicas"]),
            int(fields["leader"]),
            int(fields["leader_epoch"]),
            int(fields["partition_epoch"]),
            tuple(fields["isr"]),
            tuple(fields.get("elr", ())),
            tuple(fields.get("last_known_elr", ())),
        )


@dataclass(frozen=True, slots=True)
class ConfigsValue:
    """The overrides of one resource, by config name."""

    configs: Mapping[str, str]

    def encode(self) -> bytes:
        """As stored under ``configs/<type>/<name>``."""
        return _dump({"configs": dict(self.configs)})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` wrote."""
        configs = json.loads(data)["configs"]
        return cls({str(name): str(value) for name, value in configs.items()})


@dataclass(frozen=True, slots=True)
class ProducerIdsValue:
    """The first producer id that was never handed out, and who took the block before it (P11)."""

    next_producer_id: int
    node_id: int = -1
    broker_epoch: int = -1

    def encode(self) -> bytes:
        """As stored under ``producer-ids``."""
        return _dump(
            {
                "next_producer_id": self.next_producer_id,
                "node_id": self.node_id,
                "broker_epoch": self.broker_epoch,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` wrote."""
        fields = json.loads(data)
        return cls(
            int(fields["next_producer_id"]),
            int(fields.get("node_id", -1)),
            int(fields.get("broker_epoch", -1)),
        )
