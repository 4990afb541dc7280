"""The requests that are counted: what a broker does all day."""

from collections.abc import Callable

from benchmarks.guard.counting import CountingBroker
from benchmarks.measuring import frames
from benchmarks.suite.crowd import Crowd
from kbroker.client.cluster import Cluster
from kbroker.client.topics import create_topic
from kbroker.model import Uuid
from kbroker.wire.messages.fetch import FetchResponse

_TOPIC = "counted"
_PARTITIONS = 6
_MANY = 100
_PIPELINED = 20


def count_all() -> dict[str, float]:
    """Calls for each request, by what it is."""
    with CountingBroker() as broker:
        topic_id = new_topic(broker, _TOPIC, _PARTITIONS)
        many_id = new_topic(broker, "many", _MANY)
        one = frames.produce(_TOPIC, [0], frames.batch(1, 100))
        six = frames.produce(_TOPIC, range(_PARTITIONS), frames.batch(10, 100))
        broker.ask(one)
        counted = {
            "produce, one record": broker.calls(lambda: one),
            "produce, 20 requests at once": broker.calls(lambda: one, at_once=_PIPELINED),
            "produce, 6 partitions": broker.calls(lambda: six),
            "fetch, one partition": broker.calls(lambda: frames.fetch(topic_id, {0: 0})),
            "fetch session, 100 idle partitions": session_calls(broker, many_id, _MANY),
        }
        questions = {
            "list offsets, 100 partitions": frames.list_offsets({"many": _MANY}),
            "metadata, 100 partitions": frames.metadata("many"),
        }
        with Crowd(broker.bootstrap, members=1, groups=1, name="counted") as crowd:
            crowd.join()
            (questions["heartbeat"],) = crowd.heartbeats()
            (questions["offset commit, 6 partitions"],) = crowd.commits(_TOPIC, _PARTITIONS)
            for name, question in questions.items():
                counted[name] = broker.calls(_always(question))
    return counted


def new_topic(broker: CountingBroker, name: str, partitions: int) -> Uuid:
    """A topic, and its id."""
    with Cluster(broker.bootstrap) as cluster:
        create_topic(cluster, name, partitions=partitions, replication_factor=1)
        return cluster.topic(name).topic_id


def session_calls(broker: CountingBroker, topic_id: Uuid, partitions: int) -> float:
    """Of a fetch in a session in which nothing has changed."""
    offsets = dict.fromkeys(range(partitions), 0)
    body = broker.ask(frames.fetch(topic_id, offsets, session_epoch=0))
    answer = frames.answer(FetchResponse, frames.FETCH_VERSION, body)
    assert answer.session_id, "no session was opened"
    epoch = 0

    def next_fetch() -> bytes:
        nonlocal epoch
        epoch += 1
        return frames.fetch(topic_id, {}, session_id=answer.session_id, session_epoch=epoch)

    return broker.calls(next_fetch)


def _always(frame: bytes) -> Callable[[], bytes]:
    return lambda: frame
