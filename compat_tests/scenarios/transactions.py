"""Scenarios of transactions: what is committed is seen, what is aborted or open is not."""

from compat_tests.client import READ_COMMITTED
from compat_tests.scenarios.stage import Stage, as_received, numbered


def commit(stage: Stage) -> None:
    """Two transactions of one producer id commit: read_committed sees all records of both."""
    topic = stage.new_topic()
    for producer in ("first", "second"):
        stage.client.begin(producer, stage.name, topic, numbered(5))
        stage.client.end(producer, commit=True)

    received = stage.client.consume(topic, 10, isolation=READ_COMMITTED)
    # Each transaction ends with a marker, which has an offset too.
    assert received == as_received(numbered(5)) + as_received(numbered(5), first_offset=6)


def abort(stage: Stage) -> None:
    """One transaction aborts and one commits: read_committed sees the second, others see both."""
    topic = stage.new_topic()
    stage.client.begin("aborting", stage.name, topic, numbered(5))
    stage.client.end("aborting", commit=False)
    stage.client.begin("committing", stage.name, topic, numbered(3))
    stage.client.end("committing", commit=True)

    committed = stage.client.consume(topic, 3, isolation=READ_COMMITTED)
    assert committed == as_received(numbered(3), first_offset=6)
    everything = stage.client.consume(topic, 8)
    assert everything == as_received(numbered(5)) + committed


def open_transaction(stage: Stage) -> None:
    """What is not ended holds back read_committed, also records behind it; its end lets go."""
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(2))
    stage.client.begin("open", stage.name, topic, numbered(3))
    stage.client.produce(topic, numbered(1))

    held = stage.client.consume(topic, 6, isolation=READ_COMMITTED, wait_s=2.0)
    assert held == as_received(numbered(2))
    assert len(stage.client.consume(topic, 6)) == 6
    stage.client.end("open", commit=True)
    received = stage.client.consume(topic, 6, isolation=READ_COMMITTED)
    assert [record.offset for record in received] == [0, 1, 2, 3, 4, 5]


def fence(stage: Stage) -> None:
    """A second producer of the same id fences the first: its commit is refused, records aborted."""
    topic = stage.new_topic()
    stage.client.begin("zombie", stage.name, topic, numbered(4))
    stage.client.begin("successor", stage.name, topic, numbered(2))
    with stage.refused(90, r"fenced|epoch|newer producer"):
        stage.client.end("zombie", commit=True)
    stage.client.end("successor", commit=True)

    received = stage.client.consume(topic, 2, isolation=READ_COMMITTED)
    assert [record.value for record in received] == [sent.value for sent in numbered(2)]


def offsets(stage: Stage) -> None:
    """Offsets sent to a transaction are the group's after its commit, and not after an abort."""
    topic = stage.new_topic()
    stage.client.begin("committing", stage.name, topic, numbered(4))
    stage.client.end("committing", commit=True, group=stage.name, topic=topic, offset=4)
    assert stage.helper_admin.group_offsets(stage.name, topic) == {0: 4}

    stage.client.begin("aborting", stage.name, topic, numbered(4))
    stage.client.end("aborting", commit=False, group=stage.name, topic=topic, offset=8)
    assert stage.helper_admin.group_offsets(stage.name, topic) == {0: 4}
