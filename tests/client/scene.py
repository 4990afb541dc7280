"""A scripted cluster of one broker: its metadata names itself, node 1, as leader and controller."""

from kbroker.client.cluster import Cluster
from kbroker.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.client.scripted_broker import ScriptedBroker, Step, answer


class Scene:
    """The broker, its metadata, and a cluster that knows its address."""

    def __init__(self) -> None:
        self.broker = ScriptedBroker([])

    def play(self, *steps: Step) -> ScriptedBroker:
        return self.broker.play(*steps)

    def metadata(self, *topics: MetadataResponseTopic) -> Step:
        node = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=self.broker.port)
        return answer(MetadataResponse(brokers=[node], controller_id=1, topics=list(topics)))

    def cluster(self, timeout_s: float = 10.0) -> Cluster:
        return Cluster(f"127.0.0.1:{self.broker.port}", timeout_s=timeout_s)


def topic(*leaders: int, error_code: int = 0) -> MetadataResponseTopic:
    """The topic ``t`` with a partition for each leader."""
    partitions = [
        MetadataResponsePartition(partition_index=index, leader_id=leader)
        for index, leader in enumerate(leaders)
    ]
    return MetadataResponseTopic(name="t", error_code=error_code, partitions=partitions)
