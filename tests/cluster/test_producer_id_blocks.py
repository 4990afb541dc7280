"""Producer ids are given once, also where another broker gave some before (P11)."""

import pytest

from kbroker.cluster import ClusterImage, KeyChange, next_producer_id_block, skip_producer_ids
from kbroker.cluster.change import PutKey


def after(image: ClusterImage, decision) -> ClusterImage:
    revision = image.revision + 1
    changes = [
        KeyChange(write.key, write.value, revision, revision)
        for write in decision.change.writes
        if isinstance(write, PutKey)
    ]
    image.apply(changes, revision)
    return image


@pytest.mark.parametrize(
    ("used", "first"), [(0, 1000), (999, 1000), (1000, 2000), (123_456, 124_000)]
)
def test_a_block_begins_behind_the_ids_that_somebody_else_gave(used, first):
    image = after(ClusterImage(), skip_producer_ids(ClusterImage(), used=used))

    block = next_producer_id_block(image, node_id=1, broker_epoch=1).results
    assert block.first == first


def test_ids_that_were_passed_already_are_not_skipped_again():
    image = after(ClusterImage(), skip_producer_ids(ClusterImage(), used=5000))

    assert not skip_producer_ids(image, used=4000).change
