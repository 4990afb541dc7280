"""What a cluster image is made of, and what it says about a change: immutable values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from kbroker.cluster.keys import ConfigResource
from kbroker.cluster.values import Endpoint, VersionRange
from kbroker.model import Uuid

NO_CONFIGS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One key as the store shows it; ``value`` is None when it was deleted."""

    key: str
    value: bytes | None
    create_revision: int
    mod_revision: int


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """A live broker. ``epoch`` is Kafka's broker epoch: the revision of its registration (M8)."""

    node_id: int
    epoch: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None
    incarnation_id: Uuid
    features: Mapping[str, VersionRange]

    @property
    def host(self) -> str:
        """Of the first endpoint."""
        return self.endpoints[0].host

    @property
    def port(self) -> int:
        """Of the first endpoint."""
        return self.endpoints[0].port

    def endpoint(self, listener: str) -> Endpoint | None:
        """Where to reach it by this listener, if it has one."""
        return next((end for end in self.endpoints if end.listener == listener), None)


@dataclass(frozen=True, slots=True)
class PartitionImage:
    """One partition; ``revision`` is the last change of its key, for compare-and-swap."""

    partition: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    revision: int = 0


@dataclass(frozen=True, slots=True)
class TopicImage:
    """One topic; partition n is ``partitions[n]``."""

    name: str
    topic_id: Uuid
    partitions: tuple[PartitionImage, ...]
    configs: Mapping[str, str] = field(default_factory=lambda: NO_CONFIGS)


@dataclass(frozen=True, slots=True)
class FeaturesImage:
    """Finalised levels; ``epoch`` is the revision that set them, -1 before the first."""

    levels: Mapping[str, int] = field(default_factory=dict)
    epoch: int = -1


@dataclass(frozen=True, slots=True)
class ImageDelta:
    """What one batch changed.

    A topic deleted and created again under its name is in ``deleted`` with its old image and in
    ``created`` with its new one. ``other`` are keys that are not the image's business.
    """

    created: Mapping[str, TopicImage] = field(default_factory=dict)
    changed: Mapping[str, TopicImage] = field(default_factory=dict)
    deleted: Mapping[str, TopicImage] = field(default_factory=dict)
    configs: frozenset[ConfigResource] = frozenset()
    brokers: frozenset[int] = frozenset()
    controller: bool = False
    features: bool = False
    other: tuple[KeyChange, ...] = ()
