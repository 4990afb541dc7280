"""Fetch sessions (KIP-227), as a client sees them."""

from kbroker.broker.fetch_sessions import FetchEntry, FetchSessions
from kbroker.model import ZERO_UUID
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.fetch import FetchPartition
from tests.broker.conversation import Conversation, batch, data_of


def open_session(talk: Conversation, topic: str, partitions: int) -> int:
    """A session of all partitions from offset 0; its next epoch is 1."""
    wanted = {(topic, number): 0 for number in range(partitions)}
    answer = talk.fetch(wanted, session_epoch=0)
    assert answer.error_code == ErrorCode.NONE
    assert len(data_of(answer)) == partitions, "the first answer names every partition"
    return answer.session_id


def test_a_session_tells_only_what_is_new(talk: Conversation, topic: str):
    talk.create_topic(topic, partitions=3)
    session_id = open_session(talk, topic, 3)
    assert session_id != 0

    assert data_of(talk.fetch({}, session_id=session_id, session_epoch=1)) == {}
    talk.produce(topic, batch(b"a"), partition=1)
    news = data_of(talk.fetch({}, session_id=session_id, session_epoch=2))

    assert list(news) == [(topic, 1)]
    assert news[topic, 1].records


def test_what_did_not_fit_comes_with_the_next_fetch(talk: Conversation, topic: str):
    talk.create_topic(topic, partitions=3)
    session_id = open_session(talk, topic, 3)
    for number in range(3):
        talk.produce(topic, batch(b"x" * 500), partition=number)

    served = []
    offsets: dict[tuple[str, int], int] = {}
    for epoch in range(1, 4):
        answer = talk.fetch(offsets, session_id=session_id, session_epoch=epoch, max_bytes=100)
        with_data = [key for key, data in data_of(answer).items() if data.records]
        assert len(with_data) == 1
        served += with_data
        offsets = {with_data[0]: 1}

    assert sorted(served) == [(topic, 0), (topic, 1), (topic, 2)]


def test_a_batch_above_its_share_is_not_forgotten(talk: Conversation, topic: str):
    """It waits until its partition is the first to be read, and then comes whole."""
    talk.create_topic(topic, partitions=2)
    session_id = open_session(talk, topic, 2)
    for number in range(2):
        talk.produce(topic, batch(b"x" * 500), partition=number)
    small = {"session_id": session_id, "partition_max_bytes": 100}

    first = data_of(talk.fetch({}, session_epoch=1, max_bytes=800, **small))
    [served] = [key for key, data in first.items() if data.records]
    second = data_of(talk.fetch({served: 1}, session_epoch=2, max_bytes=800, **small))

    [other] = [key for key, data in second.items() if data.records]
    assert other != served


def test_a_forgotten_partition_is_not_told_of_any_more(talk: Conversation, topic: str):
    talk.create_topic(topic, partitions=2)
    session_id = open_session(talk, topic, 2)

    request = talk.fetch_request(
        {}, session_id=session_id, session_epoch=1, forgotten=((topic, 0),)
    )
    talk.connection.request(request, 12)
    for number in (0, 1):
        talk.produce(topic, batch(b"a"), partition=number)
    news = data_of(talk.fetch({}, session_id=session_id, session_epoch=2))

    assert list(news) == [(topic, 1)]


def test_wrong_ids_and_epochs_are_refused(talk: Conversation, topic: str):
    talk.create_topic(topic)
    session_id = open_session(talk, topic, 1)

    wrong_epoch = talk.fetch({}, session_id=session_id, session_epoch=5)
    wrong_id = talk.fetch({}, session_id=session_id + 1, session_epoch=1)

    assert wrong_epoch.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert wrong_id.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_full_fetch_ends_the_session_it_names(talk: Conversation, topic: str):
    talk.create_topic(topic)
    session_id = open_session(talk, topic, 1)

    talk.fetch({(topic, 0): 0}, session_id=session_id, session_epoch=-1)
    after = talk.fetch({}, session_id=session_id, session_epoch=1)

    assert after.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def entry(number: int) -> FetchEntry:
    return FetchEntry("t", ZERO_UUID, FetchPartition(partition=number))


def test_when_all_slots_are_taken_only_an_old_session_gives_way():
    numbers = iter(range(1, 10))
    sessions = FetchSessions(slots=2, eviction_s=60.0, new_id=lambda: next(numbers))
    first = sessions.create([entry(0)], uses_topic_ids=False, now=0.0)
    second = sessions.create([entry(0)], uses_topic_ids=False, now=1.0)
    assert first is not None
    assert second is not None

    assert sessions.create([entry(0)], uses_topic_ids=False, now=30.0) is None
    sessions.used(first, now=50.0)
    third = sessions.create([entry(0)], uses_topic_ids=False, now=70.0)

    assert third is not None
    assert sessions.get(second.session_id) is None
    assert sessions.get(first.session_id) is first
