"""The features a cluster agrees on (KIP-584), as far as they are real here.

Clients and tools derive from them what a broker can do: producers take part in the second version
of transactions only if ``transaction.version`` is 2, user interfaces read ``metadata.version`` as
the release of Kafka. So a feature is named here when its code is done, not before.
"""

from dataclasses import dataclass

from kbroker.cluster import ClusterImage, VersionRange

METADATA_VERSION = "metadata.version"
GROUP_VERSION = "group.version"
TRANSACTION_VERSION = "transaction.version"

# 4.3-IV0 is level 30; Kafka 4 supports upgrades from 3.3-IV3, level 7.
# Level 1 of group.version is the consumer group protocol (KIP-848). Level 1 of transaction.version
# writes records with tagged fields, level 2 gives an epoch to each transaction (KIP-890).
SUPPORTED: dict[str, VersionRange] = {
    METADATA_VERSION: VersionRange(7, 30),
    GROUP_VERSION: VersionRange(0, 1),
    TRANSACTION_VERSION: VersionRange(0, 2),
}

# What a new cluster begins with.
INITIAL_LEVELS: dict[str, int] = {
    METADATA_VERSION: 30,
    GROUP_VERSION: 1,
    TRANSACTION_VERSION: 2,
}


@dataclass(frozen=True, slots=True)
class FeaturesView:
    """What ApiVersions tells of features."""

    supported: list[tuple[str, int, int]]
    finalized: list[tuple[str, int]]
    epoch: int

    @classmethod
    def of(cls, image: ClusterImage) -> "FeaturesView":
        """The view of an image."""
        return cls(
            [(name, levels.lowest, levels.highest) for name, levels in SUPPORTED.items()],
            list(image.features.levels.items()),
            image.features.epoch,
        )
