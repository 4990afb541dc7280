"""kbroker groups, with real groups of both protocols."""

from argparse import ArgumentTypeError

import pytest

from kbroker.cli.groups import assignment_text
from kbroker.cli.reset_offsets import shift, topic_scope
from kbroker.client.group_offsets import Shift
from kbroker.model import TopicPartition
from tests.client.members import commit, members


def rows(lines: list[str]) -> list[list[str]]:
    return [line.split("\t") for line in lines if not line.startswith("#")]


def facts(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("#")]


# What people write and read


@pytest.mark.parametrize(
    ("text", "expected"),
    [("t", ("t", ())), ("t:0", ("t", (0,))), ("a.b-c:3,1", ("a.b-c", (3, 1)))],
)
def test_a_scope_is_a_topic_or_some_of_its_partitions(text, expected):
    assert topic_scope(text) == expected


@pytest.mark.parametrize("text", ["", ":", ":0", "t:", "t:x", "t:-1", "t:1,", "t:1:2"])
def test_what_is_no_scope_is_refused(text):
    with pytest.raises(ArgumentTypeError):
        topic_scope(text)


def test_a_shift_goes_both_ways():
    assert [shift("5"), shift("-5"), shift("+5")] == [Shift(5), Shift(-5), Shift(5)]
    with pytest.raises(ArgumentTypeError):
        shift("a bit")


def test_an_assignment_is_written_as_scopes_are():
    partitions = [TopicPartition("a", 0), TopicPartition("a", 2), TopicPartition("b", 1)]

    assert assignment_text(partitions) == "a:0,2 b:1"
    assert assignment_text([]) == "-"


# Lists and descriptions


def test_groups_are_listed_with_type_and_state(kbroker, bootstrap, topic):
    commit(bootstrap, f"{topic}-outside", topic, {0: 0})
    with members(bootstrap, topic, topic, "c", partitions=1, group_protocol="consumer"):
        listed = rows(kbroker.done("groups", "list"))
        of_type = rows(kbroker.done("groups", "list", "--type", "Consumer"))
        in_state = rows(kbroker.done("groups", "list", "--state", "empty", "--state", "dead"))

    joined, outside = (
        [topic, "consumer", "consumer", "Stable"],
        [f"{topic}-outside", "classic", "-", "Empty"],
    )
    assert joined in listed
    assert outside in listed
    assert joined in of_type
    assert outside not in of_type
    assert joined not in in_state
    assert outside in in_state


@pytest.mark.parametrize(("protocol", "assignor"), [("classic", "range"), ("consumer", "uniform")])
def test_a_description_shows_offsets_lag_and_owners(kbroker, bootstrap, name, protocol, assignor):
    kbroker.done("topics", "create", name, "--partitions", "2")
    kbroker.done("produce", name, "--partition", "1", stdin="a\nb\nc\n")
    commit(bootstrap, name, name, {1: 1})
    with members(bootstrap, name, name, "client", partitions=2, group_protocol=protocol):
        lines = kbroker.done("groups", "describe", name)
        by_member = kbroker.done("groups", "describe", name, "--members")
        states = kbroker.done("groups", "describe", name, "--state")

    member_id = rows(lines)[0][6]
    owner = [member_id, "client", "127.0.0.1"]
    assert rows(lines) == [
        [name, name, "0", "-", "0", "-", *owner],
        [name, name, "1", "1", "3", "2", *owner],
    ]
    (fact,) = facts(lines)
    (coordinator,) = [row[6] for row in rows(states)]
    about = f"# {name}: Stable, {protocol} group, assignor {assignor}, 1 member"
    assert fact == f"{about}, coordinator {coordinator} ({bootstrap}), total lag 2"
    assert rows(by_member) == [[name, member_id, "-", "client", "127.0.0.1", "2", f"{name}:0,1"]]
    assert rows(states) == [
        [name, "Stable", protocol, "consumer", assignor, "1", coordinator, bootstrap]
    ]


def test_a_group_without_members_is_described_by_its_offsets(kbroker, bootstrap, topic):
    kbroker.done("produce", topic, stdin="a\nb\n")
    commit(bootstrap, topic, topic, {0: 2})

    lines = kbroker.done("groups", "describe", topic)

    assert rows(lines) == [[topic, topic, "0", "2", "2", "0", "-", "-", "-"]]
    assert facts(lines)[0].startswith(f"# {topic}: Empty, classic group, 0 members, ")
    assert rows(kbroker.done("groups", "describe", topic, "--members")) == []


def test_a_group_that_is_not_there_does_not_stop_the_others(kbroker, bootstrap, topic):
    commit(bootstrap, topic, topic, {0: 0})
    missing = f"{topic}-not-there"

    for verb in ("describe", "delete"):
        ended = kbroker("groups", verb, missing, topic)
        assert ended.exit_code == 1
        assert ended.complaint.startswith(f"kbroker: {missing}: ")
        assert ended.complaint.endswith(" (GROUP_ID_NOT_FOUND)\n")
        assert ended.complaint.count("\n") == 1
        assert (topic in ended.output) == (verb == "describe")
    assert topic not in [row[0] for row in rows(kbroker.done("groups", "list"))]


def test_a_group_with_members_is_neither_deleted_nor_moved(kbroker, bootstrap, topic):
    with members(bootstrap, topic, topic, "c", partitions=1):
        deleted = kbroker("groups", "delete", topic)
        moved = kbroker("groups", "reset-offsets", topic, "--topic", topic, "--to-earliest")

    assert deleted.exit_code == moved.exit_code == 1
    assert deleted.complaint.endswith(" (NON_EMPTY_GROUP)\n")
    assert moved.complaint == (
        f"kbroker: {topic}: the group is Stable; offsets can only be reset while it is Empty\n"
    )
    assert moved.output == ""


# Resets


@pytest.fixture
def reset(kbroker, bootstrap, name):
    """Resets a group that stands at 1 of 3 in partition 0 of 2; gives the rows."""
    kbroker.done("topics", "create", name, "--partitions", "2")
    kbroker.done("produce", name, "--partition", "0", stdin="a\nb\nc\n")
    commit(bootstrap, name, name, {0: 1})
    return lambda *arguments: rows(kbroker.done("groups", "reset-offsets", name, *arguments))


def test_a_reset_shows_old_and_new_offsets(kbroker, reset, name):
    assert reset("--topic", name, "--to-latest") == [[name, "0", "1", "3"], [name, "1", "-", "0"]]
    assert reset("--all-topics", "--shift-by", "-1") == [
        [name, "0", "3", "2"],
        [name, "1", "0", "0"],
    ]
    assert reset("--topic", f"{name}:0", "--to-offset", "99") == [[name, "0", "2", "3"]]
    assert reset("--topic", f"{name}:0,1", "--topic", name, "--to-earliest") == [
        [name, "0", "3", "0"],
        [name, "1", "0", "0"],
    ]
    assert reset("--topic", f"{name}:0", "--to-datetime", "2099-01-01") == [[name, "0", "0", "3"]]
    assert reset("--topic", f"{name}:0", "--to-datetime", "2001-01-01T12:00:00+01:00") == [
        [name, "0", "3", "0"]
    ]
    assert [row[3:6] for row in rows(kbroker.done("groups", "describe", name))] == [
        ["0", "3", "3"],
        ["0", "0", "0"],
    ]


def test_a_dry_run_changes_nothing(kbroker, reset, name):
    planned = [[name, "0", "1", "3"]]

    assert reset("--all-topics", "--to-latest", "--dry-run") == planned
    assert [row[3] for row in rows(kbroker.done("groups", "describe", name))] == ["1"]
    assert reset("--all-topics", "--to-latest") == planned


def test_a_group_may_be_given_offsets_before_its_first_member(kbroker, topic):
    kbroker.done("produce", topic, stdin="a\nb\n")

    kbroker.done("groups", "reset-offsets", topic, "--topic", topic, "--to-latest")

    assert [row[3] for row in rows(kbroker.done("groups", "describe", topic))] == ["2"]


def test_a_reset_that_cannot_be_is_one_line(kbroker, topic):
    for arguments, words in (
        (["--all-topics", "--to-latest"], "the group has committed no offsets"),
        (["--topic", topic, "--shift-by", "1"], f"{topic}-0 has no committed offset to shift"),
        (["--topic", f"{topic}:7", "--to-latest"], "the topic has no partition 7"),
        (["--topic", f"{topic}-gone", "--to-latest"], "there is no such topic or partition"),
    ):
        ended = kbroker("groups", "reset-offsets", topic, *arguments)
        assert (ended.exit_code, ended.output) == (1, "")
        assert words in ended.complaint
        assert ended.complaint.count("\n") == 1
