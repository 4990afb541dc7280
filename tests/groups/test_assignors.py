"""The server-side assignors: what every assignment of theirs has in common."""

from hypothesis import given
from hypothesis import strategies as st

from kbroker.groups.assignors import ASSIGNORS, MemberSpec, Partitions
from kbroker.groups.assignors.range import assign_range
from kbroker.groups.assignors.uniform import assign_uniform
from kbroker.model import Uuid

TOPICS = [Uuid(bytes([number]) * 16) for number in range(1, 5)]


def member(
    *topics: Uuid, owned: Partitions = frozenset(), instance: str | None = None
) -> MemberSpec:
    return MemberSpec(instance, frozenset(topics), owned)


def part(topic: Uuid, *numbers: int) -> Partitions:
    return frozenset((topic, number) for number in numbers)


@st.composite
def groups(draw: st.DrawFn, same: bool = False) -> tuple[dict[str, MemberSpec], dict[Uuid, int]]:
    """Members with any subscriptions, who own anything, even what is gone or owned by two."""
    counts = {topic: draw(st.integers(0, 7)) for topic in TOPICS}
    subsets = st.frozensets(st.sampled_from(TOPICS), max_size=len(TOPICS))
    shared = draw(subsets)
    owned = st.frozensets(st.tuples(st.sampled_from(TOPICS), st.integers(0, 8)), max_size=12)
    names = draw(st.lists(st.text("abc", min_size=1, max_size=3), max_size=6, unique=True))
    members = {
        name: MemberSpec(
            draw(st.none() | st.just(f"static-{name}")),
            shared if same else draw(subsets),
            draw(owned),
        )
        for name in names
    }
    subscribed = frozenset().union(*(each.topics for each in members.values()))
    return members, {topic: counts[topic] for topic in subscribed}


@given(groups() | groups(same=True), st.sampled_from(sorted(ASSIGNORS)))
def test_every_partition_goes_to_exactly_one_of_its_subscribers(
    group: tuple[dict[str, MemberSpec], dict[Uuid, int]], name: str
) -> None:
    members, counts = group
    assigned = ASSIGNORS[name](members, counts)

    assert assigned.keys() == members.keys()
    given_out = [each for partitions in assigned.values() for each in partitions]
    assert sorted(given_out) == sorted(
        (topic, number) for topic, count in counts.items() for number in range(count)
    )
    for member_id, partitions in assigned.items():
        assert {topic for topic, _ in partitions} <= members[member_id].topics


@given(groups(same=True))
def test_uniform_gives_members_of_one_mind_the_same_number_or_one_more(
    group: tuple[dict[str, MemberSpec], dict[Uuid, int]],
) -> None:
    loads = [len(partitions) for partitions in assign_uniform(*group).values()]

    assert not loads or max(loads) - min(loads) <= 1


@given(groups())
def test_uniform_leaves_no_partition_with_a_member_that_has_two_more_than_another_subscriber(
    group: tuple[dict[str, MemberSpec], dict[Uuid, int]],
) -> None:
    members, _ = group
    assigned = assign_uniform(*group)

    for owner, partitions in assigned.items():
        for topic, _partition in partitions:
            idlest = min(
                len(assigned[other]) for other, each in members.items() if topic in each.topics
            )
            assert len(assigned[owner]) - idlest <= 1


@given(groups() | groups(same=True))
def test_uniform_moves_nothing_when_nothing_changed(
    group: tuple[dict[str, MemberSpec], dict[Uuid, int]],
) -> None:
    members, counts = group
    first = assign_uniform(members, counts)
    again = {
        member_id: MemberSpec(each.instance_id, each.topics, first[member_id])
        for member_id, each in members.items()
    }

    assert assign_uniform(again, counts) == first


@given(groups(same=True), st.text("xyz", min_size=1, max_size=2))
def test_uniform_takes_only_what_a_newcomer_needs(
    group: tuple[dict[str, MemberSpec], dict[Uuid, int]], newcomer: str
) -> None:
    members, counts = group
    first = assign_uniform(members, counts)
    grown = {
        member_id: MemberSpec(each.instance_id, each.topics, first[member_id])
        for member_id, each in members.items()
    }
    grown[newcomer] = member(*counts)

    second = assign_uniform(grown, counts)
    moved = sum(len(first[member_id] - second[member_id]) for member_id in first)
    if members:
        assert moved == len(second[newcomer])


def test_uniform_keeps_the_larger_share_where_it_is() -> None:
    topic = TOPICS[0]
    members = {
        "a": member(topic, owned=part(topic, 0, 1)),
        "b": member(topic, owned=part(topic, 2, 3, 4)),
    }

    assert assign_uniform(members, {topic: 5}) == {
        "a": part(topic, 0, 1),
        "b": part(topic, 2, 3, 4),
    }


def test_range_gives_a_member_the_same_partitions_of_topics_of_one_size() -> None:
    one, other = TOPICS[:2]
    members = {"a": member(one, other), "b": member(one, other)}

    assert assign_range(members, {one: 3, other: 3}) == {
        "a": part(one, 0, 1) | part(other, 0, 1),
        "b": part(one, 2) | part(other, 2),
    }


def test_range_finds_static_members_again_under_new_ids() -> None:
    topic = TOPICS[0]
    before = {
        "x": member(topic, instance="1"),
        "y": member(topic, instance="2"),
        "a": member(topic),
    }
    after = {"y": member(topic, instance="1"), "x": member(topic, instance="2"), "a": member(topic)}

    first, second = (assign_range(each, {topic: 3}) for each in (before, after))

    assert first["x"] == second["y"] == part(topic, 0)
    assert first["a"] == second["a"] == part(topic, 2)
