import pytest

from kbroker.cluster import (
    FeatureUpdate,
    UpgradeType,
    VersionRange,
    create_cluster,
    update_features,
)
from tests.cluster.world import world

SUPPORTED = {
    "metadata.version": VersionRange(7, 30),
    "transaction.version": VersionRange(0, 2),
    "group.version": VersionRange(0, 1),
}


@pytest.fixture
def w():
    made = world(brokers=2)
    assert made.write(create_cluster("id", {"metadata.version": 29, "transaction.version": 1}))
    return made


def update(w, *updates, **arguments):
    return update_features(
        w.image, updates, node_id=1, supported=SUPPORTED, fence=w.fence, **arguments
    )


def test_levels_move_up_and_down_and_away(w):
    epochs = [w.image.features.epoch]
    for level, kind in ((2, UpgradeType.UPGRADE), (0, UpgradeType.SAFE_DOWNGRADE)):
        decision = update(w, FeatureUpdate("transaction.version", level, kind))
        assert decision.results is None
        assert w.write(decision.change)
        assert w.image.features.levels.get("transaction.version", 0) == level
        assert w.deltas[-1].features
        epochs.append(w.image.features.epoch)

    assert "transaction.version" not in w.image.features.levels
    assert epochs == sorted(set(epochs))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (FeatureUpdate("transaction.version", 3), "Local controller 1 only supports versions 0-2"),
        (FeatureUpdate("nonsense", 1), "Local controller 1 does not support this feature."),
        (FeatureUpdate("group.version", 1), "Broker 1 does not support this feature."),
        (FeatureUpdate("transaction.version", -1), "A feature version cannot be less than 0."),
        (
            FeatureUpdate("transaction.version", 2, UpgradeType.UNKNOWN),
            "The controller does not support the given upgrade type.",
        ),
        (
            FeatureUpdate("transaction.version", 0),
            "Can't downgrade the version of this feature without setting the upgrade type",
        ),
        (
            FeatureUpdate("transaction.version", 2, UpgradeType.SAFE_DOWNGRADE),
            "Can't downgrade to a newer version.",
        ),
        (
            FeatureUpdate("metadata.version", 22, UpgradeType.SAFE_DOWNGRADE),
            "Refusing to perform the requested downgrade because it might delete metadata",
        ),
        (
            FeatureUpdate("metadata.version", 22, UpgradeType.UNSAFE_DOWNGRADE),
            "Unsafe metadata downgrade is not supported in this version.",
        ),
        (FeatureUpdate("metadata.version", 0, UpgradeType.SAFE_DOWNGRADE), "only supports"),
    ],
)
def test_a_level_that_cannot_be_is_refused(w, asked, words):
    decision = update(w, FeatureUpdate("metadata.version", 30), asked)

    assert decision.results.error == "INVALID_UPDATE_VERSION"
    assert words in decision.results.message
    assert not decision.change, "all or none"


def test_metadata_version_goes_back_as_long_as_no_metadata_changed(w):
    decision = update(w, FeatureUpdate("metadata.version", 23, UpgradeType.SAFE_DOWNGRADE))

    assert decision.results is None
    assert w.write(decision.change)
    assert w.image.features.levels["metadata.version"] == 23


def test_validate_only_and_the_same_level_write_nothing(w):
    asked = FeatureUpdate("transaction.version", 2)

    assert not update(w, asked, validate_only=True).change
    assert not update(w, FeatureUpdate("transaction.version", 1)).change


def test_two_updates_on_the_same_image_cannot_both_be_written(w):
    first = update(w, FeatureUpdate("transaction.version", 2))
    second = update(w, FeatureUpdate("metadata.version", 30))

    assert w.write(first.change)
    assert not w.write(second.change)
