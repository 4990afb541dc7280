from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.cluster.placement import CannotPlace, PlacementBroker, place_replicas


def brokers(*racks: str | None) -> list[PlacementBroker]:
    return [PlacementBroker(node_id, rack) for node_id, rack in enumerate(racks, 1)]


def test_the_start_moves_the_leader():
    three = brokers(None, None, None)

    leaders = [
        place_replicas(three, partitions=1, replication_factor=1, start=start)[0]
        for start in range(4)
    ]

    assert leaders == [(1,), (2,), (3,), (1,)]


def test_one_broker_holds_everything():
    placed = place_replicas(brokers(None), partitions=5, replication_factor=1, start=7)

    assert placed == [(1,)] * 5


def test_followers_are_shifted_each_time_round():
    placed = place_replicas(brokers(None, None, None), partitions=6, replication_factor=2, start=0)

    assert placed == [(1, 2), (2, 3), (3, 1), (1, 3), (2, 1), (3, 2)]


@given(
    racks=st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=9),
    partitions=st.integers(1, 40),
    start=st.integers(0, 2**31),
    data=st.data(),
)
def test_replicas_are_distinct_and_even_over_racks_and_leaders_even_over_brokers(
    racks, partitions, start, data
):
    all_brokers = brokers(*racks)
    factor = data.draw(st.integers(1, len(racks)))

    placed = place_replicas(
        all_brokers, partitions=partitions, replication_factor=factor, start=start
    )

    assert len(placed) == partitions
    rack_of = {broker.node_id: broker.rack for broker in all_brokers}
    sizes = Counter(racks)
    for replicas in placed:
        assert len(set(replicas)) == len(replicas) == factor
        used = Counter(rack_of[node_id] for node_id in replicas)
        # A rack may lag behind another only when it has no broker left.
        most = max(used.values())
        assert all(used[rack] >= min(most - 1, sizes[rack]) for rack in sizes)
    leaders = Counter(replicas[0] for replicas in placed)
    assert max(leaders.values()) - min(leaders[b.node_id] for b in all_brokers) <= 1


@pytest.mark.parametrize(
    ("count", "factor", "words"),
    [
        (2, 3, "replication factor of 3 cannot be reached because only 2 broker"),
        (0, 1, "All brokers are currently fenced."),
        (1, 0, "Invalid replication factor 0: the replication factor must be positive."),
    ],
)
def test_what_cannot_be_placed_is_refused(count, factor, words):
    with pytest.raises(CannotPlace, match=words):
        place_replicas(brokers(*[None] * count), partitions=1, replication_factor=factor, start=0)
