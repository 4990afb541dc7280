"""A cluster to talk to and a topic of one's own."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.topics import create_topic


@pytest.fixture
def cluster(bootstrap: str) -> Iterator[Cluster]:
    with Cluster(bootstrap, client_id="test") as cluster:
        yield cluster


@pytest.fixture
def new_topic(cluster: Cluster) -> Callable[..., str]:
    """Creates a topic that no other test has; gives its name."""

    def create(partitions: int = 1, **configs: str) -> str:
        name = f"client-{uuid4().hex[:12]}"
        named = {config.replace("_", "."): value for config, value in configs.items()}
        create_topic(cluster, name, partitions=partitions, configs=named)
        return name

    return create
