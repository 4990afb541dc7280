"""MirrorMaker 2 mirrors topics from Apache Kafka and back, with configs and group offsets."""

from pathlib import Path
from uuid import uuid4

from tools.apache_kafka import ApacheKafka, free_port

from compat_tests.client import Sent
from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient
from compat_tests.java_process import running

_MIRROR_MAKER = "org.apache.kafka.connect.mirror.MirrorMaker"


def _properties(here: str, there: str, topics: dict[str, str], group: str) -> dict[str, str]:
    properties = {
        "clusters": "there, here",
        "there.bootstrap.servers": there,
        "here.bootstrap.servers": here,
        "replication.factor": "1",
        "checkpoints.topic.replication.factor": "1",
        "heartbeats.topic.replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "offset.storage.replication.factor": "1",
        "status.storage.replication.factor": "1",
        "config.storage.replication.factor": "1",
        "refresh.topics.interval.seconds": "2",
        "refresh.groups.interval.seconds": "2",
        "sync.topic.configs.interval.seconds": "2",
        "emit.checkpoints.interval.seconds": "2",
        "sync.group.offsets.interval.seconds": "2",
        "sync.group.offsets.enabled": "true",
        "offset.lag.max": "0",
        "groups": group,
        "dedicated.mode.enable.internal.rest": "false",
        "listeners": f"http://127.0.0.1:{free_port()}",
    }
    for direction, topic in topics.items():
        properties[f"{direction}.enabled"] = "true"
        properties[f"{direction}.topics"] = topic
    return properties


def both_ways(bootstrap: str, folder: Path) -> None:
    """A topic of each cluster is mirrored into the other: records, headers, partitions, configs.

    The offset that a group committed on Apache Kafka is that of the mirrored group.
    """
    name = f"mirror-{uuid4().hex[:8]}"
    headers = (("trace", b"1"),)
    records = [Sent(b"value %d" % n, b"key", headers, partition=n % 2) for n in range(100)]
    with ApacheKafka() as kafka:
        sides = {"there": kafka.bootstrap, "here": bootstrap}
        for side, address in sides.items():
            configs = {"retention.ms": "7200000"}
            ConfluentAdmin(address).create_topic(f"{name}-{side}", partitions=2, configs=configs)
            ConfluentClient(address).produce(f"{name}-{side}", records)
        read = ConfluentClient(kafka.bootstrap).consume_in_group(name, f"{name}-there", 100)
        assert len(read) == 100
        topics = {"there->here": f"{name}-there", "here->there": f"{name}-here"}
        properties = _properties(bootstrap, kafka.bootstrap, topics, name)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "mirror.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        with running(_MIRROR_MAKER, [str(file)], folder) as mirror:
            for source, target in (("there", "here"), ("here", "there")):
                mirrored = f"{source}.{name}-{source}"
                client, admin = ConfluentClient(sides[target]), ConfluentAdmin(sides[target])
                for partition in range(2):
                    mirror.until(
                        lambda client=client, mirrored=mirrored, partition=partition: (
                            client.watermarks(mirrored, partition) == (0, 50)
                        ),
                        f"50 records in {mirrored}",
                    )
                received = client.consume(mirrored, 50)
                assert [(each.value, each.headers) for each in received] == [
                    (each.value, each.headers) for each in records if each.partition == 0
                ]
                mirror.until(
                    lambda admin=admin, mirrored=mirrored: (
                        admin.topic_configs(mirrored)["retention.ms"] == "7200000"
                    ),
                    f"config of {mirrored}",
                )
            admin = ConfluentAdmin(bootstrap)
            mirror.until(
                lambda: admin.group_offsets(name, f"there.{name}-there") == {0: 50, 1: 50},
                "offsets of the group",
            )
