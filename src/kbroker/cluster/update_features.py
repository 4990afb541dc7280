"""UpdateFeatures: move finalised feature levels up or down (Kafka's FeatureControlManager)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from kbroker.cluster.change import (
    Change,
    Decision,
    Expectation,
    KeyMissing,
    KeyModifiedAt,
    PutKey,
    Refused,
)
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.keys import FEATURES
from kbroker.cluster.values import FeaturesValue, VersionRange

METADATA_VERSION = "metadata.version"

# The levels of metadata.version that changed what Kafka's metadata log holds. Kafka refuses to go
# back over one of them; we have no such log, but tools expect the refusal.
_LEVELS_THAT_CHANGED_METADATA = frozenset({7, 8, 11, 13, 14, 15, 17, 23, 30})

_DISABLED = VersionRange(0, 0)


class UpgradeType(IntEnum):
    """How the level may move; the numbers are those of the UpdateFeatures request."""

    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True)
class FeatureUpdate:
    """The level somebody wants; 0 takes the feature away."""

    name: str
    level: int
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


def update_features(
    image: ClusterImage,
    updates: Sequence[FeatureUpdate],
    *,
    node_id: int,
    supported: Mapping[str, VersionRange],
    fence: Expectation,
    validate_only: bool = False,
) -> Decision[Refused | None]:
    """All updates or none; the answer is the first refusal.

    ``supported`` is what this controller can do, ``node_id`` its name in the refusal; what the
    other brokers can do, they said when they registered.
    """
    levels = dict(image.features.levels)
    for update in updates:
        refused = _check(image, update, node_id, supported)
        if refused is not None:
            return Decision(refused)
        if update.level == 0:
            levels.pop(update.name, None)
        else:
            levels[update.name] = update.level
    if validate_only or levels == image.features.levels:
        return Decision(None)
    revision = image.key_revision(FEATURES)
    unchanged = KeyMissing(FEATURES) if revision is None else KeyModifiedAt(FEATURES, revision)
    write = PutKey(FEATURES, FeaturesValue(levels).encode())
    return Decision(None, Change((fence, unchanged), (write,)))


def _check(
    image: ClusterImage, update: FeatureUpdate, node_id: int, supported: Mapping[str, VersionRange]
) -> Refused | None:
    def refused(reason: str) -> Refused:
        message = f"Invalid update version {update.level} for feature {update.name}. {reason}"
        return Refused("INVALID_UPDATE_VERSION", message)

    if update.upgrade_type is UpgradeType.UNKNOWN:
        return refused("The controller does not support the given upgrade type.")
    if update.level < 0:
        return refused("A feature version cannot be less than 0.")
    nodes = [(f"Local controller {node_id}", supported)]
    nodes.extend((f"Broker {broker.node_id}", broker.features) for broker in image.brokers.values())
    for who, features in nodes:
        levels = features.get(update.name, _DISABLED)
        if update.level not in levels:
            if levels.highest == 0:
                return refused(f"{who} does not support this feature.")
            return refused(f"{who} only supports versions {levels}")
    if update.name not in supported and update.name not in image.features.levels:
        return refused("There is no such feature.")  # not even at level 0, which all support
    current = image.features.levels.get(update.name, 0)
    if update.level < current and update.upgrade_type is UpgradeType.UPGRADE:
        return refused(
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade."
        )
    if update.level > current and update.upgrade_type is not UpgradeType.UPGRADE:
        return refused("Can't downgrade to a newer version.")
    if update.name == METADATA_VERSION:
        return _check_metadata_version(update, current)
    return None


def _check_metadata_version(update: FeatureUpdate, current: int) -> Refused | None:
    passed = range(update.level + 1, current + 1)
    if _LEVELS_THAT_CHANGED_METADATA.isdisjoint(passed):
        return None
    if update.upgrade_type is UpgradeType.UNSAFE_DOWNGRADE:
        reason = "Unsafe metadata downgrade is not supported in this version."
    else:
        reason = (
            "Refusing to perform the requested downgrade because it might delete metadata "
            "information."
        )
    message = f"Unsupported metadata.version downgrade from {current} to {update.level}. {reason}"
    return Refused("INVALID_UPDATE_VERSION", message)
