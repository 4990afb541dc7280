"""kafka-topics, kafka-configs, kafka-log-dirs, kafka-features and their like."""

import json

import pytest
from tools.apache_kafka import KAFKA_VERSION, run_java

from compat_tests.broker_process import BrokerProcess
from compat_tests.java_tools import VERSION
from compat_tests.java_tools.tool import (
    API_VERSIONS,
    CLUSTER,
    CONFIGS,
    FEATURES,
    LOG_DIRS,
    TOPICS,
    Tools,
)


def test_these_are_the_tools_of_the_pinned_version():
    assert KAFKA_VERSION == VERSION


def test_topics_creates_lists_describes_alters_and_deletes(tools: Tools, topic: str):
    name = ("--topic", topic)
    created = tools.run(
        TOPICS, "--create", *name, "--partitions", "2", "--config", "retention.ms=3600000"
    )
    assert f"Created topic {topic}." in created
    assert topic in tools.run(TOPICS, "--list").splitlines()

    described = tools.run(TOPICS, "--describe", *name)
    assert "PartitionCount: 2\tReplicationFactor: 1" in described
    assert "retention.ms=3600000" in described
    assert described.count("Leader: 1\tReplicas: 1\tIsr: 1") == 2

    tools.run(TOPICS, "--alter", *name, "--partitions", "5")
    assert "PartitionCount: 5" in tools.run(TOPICS, "--describe", *name)

    tools.run(TOPICS, "--delete", *name)
    assert topic not in tools.run(TOPICS, "--list").splitlines()


def test_topics_finds_nothing_out_of_order(tools: Tools, three_partitions: str):
    for question in ("--under-replicated-partitions", "--unavailable-partitions"):
        assert tools.run(TOPICS, "--describe", question).strip() == ""


def test_configs_of_a_topic_are_set_described_and_deleted(tools: Tools, three_partitions: str):
    name = ("--topic", three_partitions)
    added = "cleanup.policy=[compact,delete],segment.bytes=2097152"
    tools.run(CONFIGS, "--alter", *name, "--add-config", added)
    described = tools.run(CONFIGS, "--describe", *name)
    assert "cleanup.policy=compact,delete sensitive=false" in described
    assert "DEFAULT_CONFIG:log.segment.bytes=1073741824" in described

    tools.run(CONFIGS, "--alter", *name, "--delete-config", "cleanup.policy")
    assert "cleanup.policy" not in tools.run(CONFIGS, "--describe", *name)
    assert "cleanup.policy=delete" in tools.run(CONFIGS, "--describe", *name, "--all")


def test_configs_of_a_broker_are_set_described_and_deleted(tools: Tools):
    tools.run(CONFIGS, "--alter", "--broker", "1", "--add-config", "log.cleaner.threads=2")
    described = tools.run(CONFIGS, "--describe", "--broker", "1")
    assert "DYNAMIC_BROKER_CONFIG:log.cleaner.threads=2" in described

    tools.run(CONFIGS, "--alter", "--broker", "1", "--delete-config", "log.cleaner.threads")
    assert "log.cleaner.threads" not in tools.run(CONFIGS, "--describe", "--broker", "1")


def test_log_dirs_shows_every_partition(tools: Tools, broker: BrokerProcess, three_partitions: str):
    output = tools.run(LOG_DIRS, "--describe", "--topic-list", three_partitions)
    [line] = [line for line in output.splitlines() if line.startswith("{")]
    [directory] = json.loads(line)["brokers"][0]["logDirs"]

    assert directory["error"] is None
    assert directory["logDir"] == str(broker.data_dir)
    assert {each["partition"] for each in directory["partitions"]} == {
        f"{three_partitions}-{number}" for number in range(3)
    }


def test_api_versions_reads_the_table_and_knows_every_api(tools: Tools):
    output = tools.run(API_VERSIONS)

    # librdkafka turns compression off where Produce does not begin at 0.
    assert "Produce(0): 0 to 13 [usable: 13]" in output
    assert "UNKNOWN" not in output


def test_features_shows_the_metadata_version_and_refuses_unknown_levels(tools: Tools):
    described = tools.run(FEATURES, "describe")
    [line] = [line for line in described.splitlines() if "metadata.version" in line]
    assert "FinalizedVersionLevel: 4.3-IV0" in line

    with pytest.raises(RuntimeError, match=r"1 out of 1 operation\(s\) failed"):
        tools.run(FEATURES, "upgrade", "--feature", "metadata.version=99")


def test_cluster_shows_its_id_and_its_endpoint(bootstrap: str):
    # This tool wants its verb before the address.
    def cluster(verb: str) -> str:
        return run_java(CLUSTER, verb, "--bootstrap-server", bootstrap).decode()

    assert len(cluster("cluster-id").removeprefix("Cluster ID:").strip()) == 22
    [endpoint] = cluster("list-endpoints").splitlines()[1:]
    assert endpoint.split() == ["1", *bootstrap.split(":"), "null", "unfenced", "broker"]
