"""Topics with transactions: aborted records are in no lake, and an audit explains every offset."""

from contextlib import contextmanager

import pytest
from compat_tests.broker_process import BrokerProcess
from confluent_kafka import Producer
from tools.apache_kafka import ApacheKafka

from spark_jobs.audit.main import run as audit
from spark_jobs.scene import Scene
from spark_jobs.topic_to_lake.main import run as to_lake


@contextmanager
def kbroker(folder):
    with BrokerProcess(folder) as broker:
        yield broker.bootstrap


@contextmanager
def apache_kafka(_):
    with ApacheKafka(heap="512m") as kafka:
        yield kafka.bootstrap


@pytest.fixture(params=[apache_kafka, kbroker], ids=["apache-kafka", "kbroker"])
def transactional(request, tmp_path):
    """The address of a broker with a topic of committed and aborted transactions.

    Committed are 0 to 9 and 20 to 29, aborted 10 to 19, and 30 to 39 are still open.
    """
    with request.param(tmp_path) as bootstrap:
        with Scene(bootstrap) as scene:
            scene.create("events", "events-dead")
        producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "writer"})
        producer.init_transactions()
        for first, end in (
            (0, producer.commit_transaction),
            (10, producer.abort_transaction),
            (20, producer.commit_transaction),
            (30, producer.flush),
        ):
            producer.begin_transaction()
            for number in range(first, first + 10):
                producer.produce("events", b"%d" % number, b"key")
            producer.flush()
            end()
        yield bootstrap
        producer.abort_transaction()


def test_only_committed_records_reach_the_lake_and_the_audit_explains_the_rest(
    spark, transactional, tmp_path
):
    lake = [
        *("--bootstrap", transactional, "--topics", "events", "--payload", "binary", "--once"),
        *("--lake", f"{tmp_path}/lake", "--checkpoint", f"{tmp_path}/checkpoint"),
        *("--dead-letter-topic", "events-dead"),
    ]
    report = str(tmp_path / "report")

    assert to_lake(lake) == 0
    assert audit(["--bootstrap", transactional, "--topic", "events", "--report", report]) == 0

    rows = spark.read.parquet(f"{tmp_path}/lake").collect()
    assert sorted(int(bytes(row.value)) for row in rows) == [*range(10), *range(20, 30)]
    [row] = spark.read.parquet(report).collect()
    assert (row.records, row.markers, row.aborted, row.unexplained) == (20, 3, 10, 0)
    assert row.end_offset == 33, "what is open is not looked at"
