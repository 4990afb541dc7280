"""The checker sees what it is there to see."""

from tests.scenarios.group_history import GroupHistory


def test_a_sound_history_has_no_anomalies():
    history = GroupHistory()
    history.assigned("a", 1, [0, 1])
    history.assigned("a", 2, [0])
    history.assigned("b", 2, [1])
    history.committed(0, history.attempted(0))

    assert history.anomalies({0: 1}) == []


def test_a_commit_without_an_answer_may_be_stored_or_not():
    history = GroupHistory()
    history.committed(0, history.attempted(0))
    history.attempted(0)

    assert history.anomalies({0: 1}) == history.anomalies({0: 2}) == []


def test_everything_wrong_is_named():
    history = GroupHistory()
    history.assigned("a", 7, [0])
    history.assigned("b", 7, [0])
    for partition in (0, 0, 1):
        history.committed(partition, history.attempted(partition))

    assert history.anomalies({0: 1, 2: 9}) == [
        "two owners of 0 in generation 7: ['a', 'b']",
        "regressed 0: 1 after 2",
        "lost 1: 1",
        "phantom 2: 9",
    ]


def test_a_partition_that_was_not_given_up_has_an_owner_until_the_session_is_over():
    history = GroupHistory()
    history.held("a", [0, 1, 2], now=0.0, session_ends_at=5.0)
    history.given_up("a", [1])
    history.held("b", [0, 1], now=4.9, session_ends_at=9.9)
    history.held("b", [2], now=5.1, session_ends_at=9.9)

    [anomaly] = history.anomalies({})
    assert anomaly.startswith("two owners of 0")
