"""The first writes of a cluster and of a broker: who we are, who lives, who decides."""

from collections.abc import Mapping

from kbroker.cluster.change import Change, KeyMissing, PutKey
from kbroker.cluster.keys import (
    CLUSTER,
    CONTROLLER,
    FEATURES,
    ConfigResource,
    ResourceType,
    broker_key,
    config_key,
)
from kbroker.cluster.values import (
    BrokerValue,
    ClusterValue,
    ConfigsValue,
    ControllerValue,
    FeaturesValue,
)


def create_cluster(
    cluster_id: str, features: Mapping[str, int], configs: Mapping[str, str] | None = None
) -> Change:
    """Make a cluster where there is none. If it fails, another broker was first: read its id.

    ``configs`` are those that all brokers have from the beginning.
    """
    writes = [
        PutKey(CLUSTER, ClusterValue(cluster_id).encode()),
        PutKey(FEATURES, FeaturesValue(features).encode()),
    ]
    if configs:
        key = config_key(ConfigResource(ResourceType.BROKER, ""))
        writes.append(PutKey(key, ConfigsValue(configs).encode()))
    return Change((KeyMissing(CLUSTER),), tuple(writes))


def register_broker(broker: BrokerValue) -> Change:
    """Say that a broker lives. It fails while an older registration of this node is alive (R14)."""
    key = broker_key(broker.node_id)
    return Change((KeyMissing(key),), (PutKey(key, broker.encode(), leased=True),))


def claim_controller(node_id: int) -> Change:
    """Become the controller, if there is none.

    The revision of this write is what `controller_fence` needs.
    """
    value = ControllerValue(node_id).encode()
    return Change((KeyMissing(CONTROLLER),), (PutKey(CONTROLLER, value, leased=True),))
