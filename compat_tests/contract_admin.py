"""What must hold for administration, whichever client administrates."""

import time

import pytest

from compat_tests.client import Admin, Client
from compat_tests.contract_records import numbered


class AdminContract:
    """Topics come, change and go."""

    def test_a_topic_is_created_listed_and_described(self, admin: Admin, topic: str):
        admin.create_topic(topic, partitions=3)

        assert topic in admin.topics()
        _, controller, _ = admin.cluster()
        assert admin.leaders(topic) == dict.fromkeys(range(3), controller)

    def test_the_same_topic_cannot_be_created_twice(self, admin: Admin, topic: str):
        admin.create_topic(topic)

        with pytest.raises(Exception, match=r"(?i)already.?exists"):
            admin.create_topic(topic)

    def test_configs_given_at_creation_are_described_among_the_defaults(
        self, admin: Admin, topic: str
    ):
        admin.create_topic(topic, configs={"cleanup.policy": "compact", "retention.ms": "3600000"})

        configs = admin.topic_configs(topic)
        assert configs["cleanup.policy"] == "compact"
        assert configs["retention.ms"] == "3600000"
        assert configs["segment.bytes"] == "1073741824"
        # The broker of these tests was started with this one.
        assert configs["max.message.bytes"] == "16777216"

    def test_an_altered_config_is_described_and_the_others_stay(self, admin: Admin, topic: str):
        admin.create_topic(topic, configs={"retention.ms": "3600000"})
        admin.alter_topic_config(topic, "segment.bytes", "2097152")

        configs = admin.topic_configs(topic)
        assert configs["segment.bytes"] == "2097152"
        assert configs["retention.ms"] == "3600000"

    def test_an_altered_config_takes_effect(self, client: Client, admin: Admin, topic: str):
        admin.create_topic(topic)
        client.produce(topic, numbered(1))
        admin.alter_topic_config(topic, "max.message.bytes", "100")

        with pytest.raises(
            Exception, match=r"(?i)MessageSizeTooLarge|MSG_SIZE_TOO_LARGE|too large"
        ):
            client.produce(topic, numbered(1))

    def test_partitions_can_be_added_and_written_to(self, client: Client, admin: Admin, topic: str):
        admin.create_topic(topic)
        admin.create_partitions(topic, 4)

        assert set(admin.leaders(topic)) == {0, 1, 2, 3}
        client.produce(topic, numbered(3, partition=3))
        assert client.watermarks(topic, 3) == (0, 3)

    def test_partitions_cannot_be_taken_away(self, admin: Admin, topic: str):
        admin.create_topic(topic, partitions=3)

        with pytest.raises(Exception, match=r"(?i)invalid.?partitions|37|lower|fewer"):
            admin.create_partitions(topic, 2)

    def test_a_deleted_topic_is_gone_and_its_name_is_free(
        self, client: Client, admin: Admin, topic: str
    ):
        admin.create_topic(topic)
        client.produce(topic, numbered(5))
        admin.delete_topic(topic)

        deadline = time.monotonic() + 10
        while topic in admin.topics() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert topic not in admin.topics()
        admin.create_topic(topic)
        assert client.watermarks(topic) == (0, 0)

    def test_the_cluster_has_an_id_a_controller_and_a_broker(self, admin: Admin):
        cluster_id, controller, brokers = admin.cluster()

        assert len(cluster_id) == 22  # a uuid in base64
        assert brokers == [controller]
