"""kafka-python 2.0 in the words that all clients share, as far as it can say them.

Its admin client has other names and answers than version 3; its producer and its consumer have the
same, so they are those of ``records``, without what came later.
"""

from collections.abc import Mapping

from kafka.admin import (
    ConfigResource,
    ConfigResourceType,
    KafkaAdminClient,
    NewPartitions,
    NewTopic,
)
from kafka.errors import for_code

from compat_tests.kafka_python.records import KafkaPythonClient


class OldClient(KafkaPythonClient):
    """KafkaProducer and KafkaConsumer of 2.0."""

    _plain: Mapping[str, object] = {}


class OldAdmin:
    """KafkaAdminClient of 2.0: refusals of some requests are error codes in their answers."""

    def __init__(self, bootstrap: str) -> None:
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        new = NewTopic(topic, partitions, 1, topic_configs=dict(configs or {}))
        self._admin.create_topics([new])

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])

    def topics(self) -> set[str]:
        return set(self._admin.list_topics())

    def leaders(self, topic: str) -> dict[int, int]:
        [described] = self._admin.describe_topics([topic])
        _refuse(described["error_code"])
        return {each["partition"]: each["leader"] for each in described["partitions"]}

    def create_partitions(self, topic: str, total: int) -> None:
        self._admin.create_partitions({topic: NewPartitions(total)})

    def topic_configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        [answer] = self._admin.describe_configs([resource])
        [(code, _, _, _, entries)] = answer.resources
        _refuse(code)
        return {name: value for name, value, *_ in entries}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        """AlterConfigs replaces all configs, so those that were set must be given again."""
        dynamic_topic_config = 1
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        [answer] = self._admin.describe_configs([resource])
        [(code, _, _, _, entries)] = answer.resources
        _refuse(code)
        configs = {
            set_name: set_value
            for set_name, set_value, _, source, *_ in entries
            if source == dynamic_topic_config
        }
        changed = ConfigResource(ConfigResourceType.TOPIC, topic, {**configs, name: value})
        for code, *_ in self._admin.alter_configs([changed]).resources:
            _refuse(code)

    def cluster(self) -> tuple[str, int, list[int]]:
        described = self._admin.describe_cluster()
        brokers = [broker["node_id"] for broker in described["brokers"]]
        return described["cluster_id"], described["controller_id"], brokers

    def groups(self) -> set[str]:
        return {name for name, _ in self._admin.list_consumer_groups()}

    def group_offsets(self, group: str, topic: str) -> dict[int, int]:
        found = self._admin.list_consumer_group_offsets(group)
        return {each.partition: at.offset for each, at in found.items() if each.topic == topic}

    def delete_group(self, group: str) -> None:
        for _, error in self._admin.delete_consumer_groups([group]):
            _refuse(error.errno)


def _refuse(code: int) -> None:
    if code != 0:
        raise for_code(code)()


def parts(bootstrap: str) -> tuple[OldClient, OldAdmin]:
    """For ``compat_tests.serve``."""
    return OldClient(bootstrap), OldAdmin(bootstrap)
