"""kafka-python in the words that all clients share."""

from collections.abc import Mapping, Sequence
from contextlib import closing

from kafka import ConsumerGroupMetadata, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

from compat_tests.client import CompatError, Sent
from compat_tests.kafka_python.records import KafkaPythonClient, send


class KafkaPythonTransactions:
    """Producers with a transactional id, by the names that scenarios give them."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._producers: dict[str, KafkaProducer] = {}

    def begin(
        self, producer: str, transactional_id: str, topic: str, records: Sequence[Sent]
    ) -> None:
        opened = KafkaProducer(bootstrap_servers=self._bootstrap, transactional_id=transactional_id)
        opened.init_transactions()
        opened.begin_transaction()
        send(opened, topic, records)
        self._producers[producer] = opened

    def end(
        self,
        producer: str,
        *,
        commit: bool,
        group: str | None = None,
        topic: str | None = None,
        offset: int | None = None,
    ) -> None:
        with closing(self._producers.pop(producer)) as ending:
            if group is not None:
                position = {TopicPartition(topic, 0): OffsetAndMetadata(offset, "", -1)}
                ending.send_offsets_to_transaction(position, ConsumerGroupMetadata(group))
            if commit:
                ending.commit_transaction()
            else:
                ending.abort_transaction()


class KafkaPythonAdmin:
    """KafkaAdminClient."""

    def __init__(self, admin: KafkaAdminClient) -> None:
        self.admin = admin

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        wanted = {
            "num_partitions": partitions,
            "replication_factor": 1,
            "configs": dict(configs or {}),
        }
        self.admin.create_topics({topic: wanted})

    def delete_topic(self, topic: str) -> None:
        self.admin.delete_topics([topic])

    def topics(self) -> set[str]:
        return set(self.admin.list_topics())

    def leaders(self, topic: str) -> dict[int, int]:
        [described] = self.admin.describe_topics([topic])
        return {each["partition_index"]: each["leader_id"] for each in described["partitions"]}

    def create_partitions(self, topic: str, total: int) -> None:
        self.admin.create_partitions({topic: total})

    def topic_configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        described = self.admin.describe_configs([resource], config_filter="all")["topic"][topic]
        return {name: entry["value"] for name, entry in described.items()}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})
        answer = self.admin.alter_configs([resource])["topic"][topic]
        if answer != "OK":
            raise CompatError(answer)

    def delete_records(self, topic: str, before_offset: int) -> int:
        partition = TopicPartition(topic, 0)
        answer = self.admin.delete_records({partition: before_offset})
        low_watermark: int = answer[partition]["low_watermark"]
        return low_watermark

    def cluster(self) -> tuple[str, int, list[int]]:
        described = self.admin.describe_cluster()
        brokers = [broker["broker_id"] for broker in described["brokers"]]
        return described["cluster_id"], described["controller_id"], brokers

    def groups(self) -> set[str]:
        return {group["group_id"] for group in self.admin.list_groups()}

    def group_offsets(self, group: str, topic: str) -> dict[int, int]:
        found = self.admin.list_group_offsets({group: None})[group]
        return {each.partition: at.offset for each, at in found.items() if each.topic == topic}

    def delete_group(self, group: str) -> None:
        refuse_any(self.admin.delete_groups([group]))


def refuse_any(answers: object) -> None:
    """Raise the error that kafka-python gives as an answer, as text or as a class, if any."""
    items = answers.values() if isinstance(answers, dict) else [each for _, each in answers]
    for error in items:
        if error not in ("OK", None) and getattr(error, "errno", 0) != 0:
            raise error() if isinstance(error, type) else CompatError(str(error))


def parts(
    bootstrap: str,
) -> tuple[KafkaPythonClient, KafkaPythonTransactions, KafkaPythonAdmin]:
    """For ``compat_tests.serve``."""
    return (
        KafkaPythonClient(bootstrap),
        KafkaPythonTransactions(bootstrap),
        KafkaPythonAdmin(KafkaAdminClient(bootstrap_servers=bootstrap)),
    )
