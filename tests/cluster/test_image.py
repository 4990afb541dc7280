import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbroker.cluster import (
    ClusterImage,
    ImageDelta,
    KeyChange,
    MalformedValue,
    NewTopic,
    lead_sole_replicas,
)
from kbroker.cluster.keys import ConfigResource, ResourceType, config_key, partition_key, topic_key
from kbroker.cluster.values import (
    ConfigsValue,
    ControllerValue,
    FeaturesValue,
    PartitionValue,
    ProducerIdsValue,
    TopicValue,
)
from tests.cluster.world import World, broker_value, topic_resource, uuid, world

NAMES = ["a.b", "a_b", "c"]
IDS = [uuid(number) for number in range(1, 5)]


def partition(leader: int, epoch: int = 0) -> bytes:
    return PartitionValue((leader,), leader, epoch, epoch, (leader,)).encode()


NAME, TOPIC_ID, SMALL = st.sampled_from(NAMES), st.sampled_from(IDS), st.integers(0, 3)

# Any key with any value that fits it, without the order a controller would keep.
WRITES = st.one_of(
    st.tuples(NAME, TOPIC_ID).map(lambda t: (topic_key(t[0]), TopicValue(t[1]).encode())),
    st.tuples(TOPIC_ID, SMALL, SMALL).map(lambda t: (partition_key(t[0], t[1]), partition(t[2]))),
    st.tuples(st.sampled_from(ResourceType), NAME, SMALL).map(
        lambda t: (
            config_key(ConfigResource(t[0], t[1])),
            ConfigsValue({"k": str(t[2])}).encode(),
        )
    ),
    SMALL.map(lambda n: (f"brokers/{n}", broker_value(n).encode())),
    SMALL.map(lambda n: ("controller", ControllerValue(n).encode())),
    SMALL.map(lambda n: ("features", FeaturesValue({"f": n}).encode())),
    SMALL.map(lambda n: ("producer-ids", ProducerIdsValue(n).encode())),
    st.just(("acls/x", b"not ours")),
)


def history(steps: list[list[tuple[tuple[str, bytes], bool]]]) -> list[list[KeyChange]]:
    """Batches of puts, and of deletes of what is there; topic ids are unique, as in a cluster."""
    keys: dict[str, KeyChange] = {}
    batches = []
    for revision, step in enumerate(steps, 2):
        batch: dict[str, KeyChange] = {}
        for (key, value), delete in step:
            if key in batch:
                continue
            if delete and key in keys:
                del keys[key]
                batch[key] = KeyChange(key, None, 0, revision)
            elif not (key.startswith("topics/") and topic_id_is_used(keys, key, value)):
                created = keys[key].create_revision if key in keys else revision
                keys[key] = batch[key] = KeyChange(key, value, created, revision)
        batches.append(list(batch.values()))
    return batches


HISTORIES = st.lists(
    st.lists(st.tuples(WRITES, st.booleans()), min_size=1, max_size=6), max_size=12
).map(history)


def topic_id_is_used(keys: dict[str, KeyChange], key: str, value: bytes) -> bool:
    return any(
        other.value == value
        for name, other in keys.items()
        if name.startswith("topics/") and name != key
    )


def listing_after(batches: list[list[KeyChange]]) -> list[KeyChange]:
    keys: dict[str, KeyChange] = {}
    for batch in batches:
        for change in batch:
            keys.pop(change.key, None)
            if change.value is not None:
                keys[change.key] = change
    return list(keys.values())


def contents(image: ClusterImage) -> dict[str, object]:
    """Everything but the finalised epoch of features that are gone: a listing cannot show it."""
    shown = dict(vars(image))
    if "features" not in shown["_revisions"]:
        shown["features"] = shown["features"].levels
    return shown


@settings(max_examples=300, deadline=None)
@given(HISTORIES)
def test_an_image_that_follows_changes_equals_one_built_from_a_listing(batches):
    image = ClusterImage()
    revision = 1
    for revision, batch in enumerate(batches, 2):
        image.apply(batch, revision)
    if not batches:
        image.apply([], revision)

    assert contents(image) == contents(ClusterImage.from_listing(listing_after(batches), revision))


@settings(max_examples=200, deadline=None)
@given(HISTORIES, st.integers(0, 12))
def test_an_image_that_missed_changes_is_put_right_by_a_listing(batches, heard):
    """M5: after Compacted, a full listing and what differs."""
    heard = min(heard, len(batches))
    image = ClusterImage.from_listing(listing_after(batches[:heard]), 1 + heard)
    known = list(image.topics.values())
    revision = 1 + len(batches)

    delta = image.resync(listing_after(batches), revision)

    assert contents(image) == contents(ClusterImage.from_listing(listing_after(batches), revision))
    now = list(image.topics.values())
    for topic in known:
        assert topic in now or topic.name in {*delta.deleted, *delta.changed}
    for topic in now:
        assert topic in known or topic in [*delta.created.values(), *delta.changed.values()]


@settings(max_examples=100, deadline=None)
@given(HISTORIES)
def test_a_batch_that_comes_twice_changes_nothing(batches):
    """M5: events are idempotent by their revision."""
    image = ClusterImage()
    for revision, batch in enumerate(batches, 2):
        image.apply(batch, revision)
        before = contents(image)
        delta = image.apply([change for change in batch if change.value is not None], revision)
        assert contents(image) == before
        assert delta == ImageDelta()


def test_a_topic_made_anew_under_its_name_is_deleted_and_created():
    w = world()
    w.create(NewTopic("a"))
    old = w.image.topics["a"]
    new_id = w.new_id()
    listing = [c for c in w.keys.values() if not c.key.startswith(("topics/", "partitions/"))]
    listing.append(KeyChange(topic_key("a"), TopicValue(new_id).encode(), 90, 90))
    listing.append(KeyChange(partition_key(new_id, 0), partition(1), 90, 90))

    delta = w.image.resync(listing, 90)

    assert delta.deleted == {"a": old}
    assert delta.created["a"].topic_id == new_id
    assert list(w.image.orphans()) == []
    assert w.image.topic_by_id(old.topic_id) is None


def test_partitions_behind_a_gap_do_not_show():
    w = world()
    w.create(NewTopic("a", 2))
    topic_id = w.image.topics["a"].topic_id

    w.put(partition_key(topic_id, 3), partition(1))
    assert len(w.image.topics["a"].partitions) == 2

    w.put(partition_key(topic_id, 2), partition(1))
    assert [p.partition for p in w.image.topics["a"].partitions] == [0, 1, 2, 3]


def test_keys_that_are_not_ours_are_passed_on():
    w = World()

    w.put("acls/1", b"\xff")

    assert [change.key for change in w.deltas[-1].other] == ["acls/1"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("topics/a", b"{}"),
        ("topics/a", b"not json"),
        ("topics/a", b'{"topic_id": 5}'),
        ("partitions/AAAAAAAAAAAAAAAAAAAAAQ/0", b"[]"),
        ("brokers/1", b'{"node_id": null}'),
        ("features", b'{"levels": 3}'),
    ],
)
def test_a_value_that_no_broker_wrote_names_its_key(key, value):
    with pytest.raises(MalformedValue, match=key):
        World().put(key, value)


def test_the_revision_of_an_image_never_goes_back():
    image = ClusterImage.from_listing([], 5)

    with pytest.raises(AssertionError):
        image.apply([], 4)


def test_parts_of_an_image_are_replaced_and_never_changed():
    w = world()
    w.create(NewTopic("a", 2, configs={"x": "1"}))
    held = w.image.topics["a"]
    epochs = [p.leader_epoch for p in held.partitions]

    assert w.write(lead_sole_replicas(w.image, 1, w.fence))
    w.put(config_key(topic_resource("a")), ConfigsValue({"x": "2"}).encode())

    assert [p.leader_epoch for p in held.partitions] == epochs
    assert held.configs == {"x": "1"}
    assert w.image.topics["a"].configs == {"x": "2"}


def test_ten_thousand_partitions_are_listed_and_followed_quickly():
    w = world()
    w.create(*(NewTopic(f"topic-{number}", 10) for number in range(1000)))

    started = time.perf_counter()
    image = ClusterImage.from_listing(w.keys.values(), w.revision)
    listed_s = time.perf_counter() - started
    started = time.perf_counter()
    for number in range(1000):
        key = partition_key(image.topics[f"topic-{number}"].topic_id, 3)
        image.apply([KeyChange(key, partition(1, 1), 1, w.revision + 1)], w.revision + 1)
    followed_s = time.perf_counter() - started

    assert sum(len(topic.partitions) for topic in image.topics.values()) == 10_000
    # 150 ms and 20 ms on an idle core; the limits leave room for a busy machine.
    assert listed_s < 2.0
    assert followed_s < 1.0
