"""What is produced over one listener is consumed over another; who may not enter is told so."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from compat_tests.java_tools.tool import CONSOLE_CONSUMER, CONSOLE_PRODUCER, TOPICS, Tools
from compat_tests.tls.conftest import TlsBroker

TIMEOUT_S = 30.0
# Answers of more than a megabyte, which take several turns to send.
LARGE = [bytes([number]) * 900_000 for number in range(8)]


def librdkafka(broker: TlsBroker, address: str, **more: object) -> dict[str, object]:
    return {
        "bootstrap.servers": address,
        "security.protocol": "SSL",
        "ssl.ca.location": str(broker.trusted),
        "log_level": 0,
        **more,
    }


def produce(configs: dict[str, object], topic: str, values: list[bytes]) -> None:
    producer = Producer(configs)
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(TIMEOUT_S) == 0


def consume(configs: dict[str, object], topic: str, count: int) -> list[bytes]:
    consumer = Consumer({**configs, "group.id": f"of-{topic}", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    values = []
    while len(values) < count:
        [message] = consumer.consume(1, TIMEOUT_S) or [None]
        assert message is not None, f"only {len(values)} records came"
        assert message.error() is None, message.error()
        values.append(message.value())
    consumer.close()
    return values


def certificate(broker: TlsBroker) -> dict[str, object]:
    # librdkafka takes the certificate and the key out of the same file.
    return {"ssl.certificate.location": str(broker.client), "ssl.key.location": str(broker.client)}


def java_tools(folder: Path, address: str, configs: dict[str, str]) -> tuple[Tools, str]:
    """Kafka's tools for one listener, and the file they take its configs from."""
    file = folder / "client.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in configs.items()))
    return Tools(address), str(file)


def test_librdkafka_produces_and_consumes(tls_broker: TlsBroker, topic: str):
    configs = librdkafka(tls_broker, tls_broker.encrypted)
    produce(configs, topic, LARGE)
    assert consume(configs, topic, len(LARGE)) == LARGE


def test_librdkafka_shows_its_certificate(tls_broker: TlsBroker, topic: str):
    configs = librdkafka(tls_broker, tls_broker.mutual, **certificate(tls_broker))
    produce(configs, topic, [b"a", b"b"])
    assert consume(configs, topic, 2) == [b"a", b"b"]


def test_librdkafka_hears_that_it_has_to_show_one(tls_broker: TlsBroker):
    told = []
    configs = librdkafka(tls_broker, tls_broker.mutual, error_cb=told.append)
    producer = Producer(configs)
    with pytest.raises(KafkaException):
        producer.list_topics(timeout=3)
    producer.poll(1)
    assert any("certificate required" in str(error) for error in told), told


def test_a_client_is_told_the_listener_that_it_asked_on(tls_broker: TlsBroker):
    for address, more in (
        (tls_broker.encrypted, {}),
        (tls_broker.mutual, certificate(tls_broker)),
    ):
        metadata = Producer(librdkafka(tls_broker, address, **more)).list_topics(timeout=TIMEOUT_S)
        [broker] = metadata.brokers.values()
        assert f"{broker.host}:{broker.port}" == address


def test_what_one_listener_took_another_gives(tls_broker: TlsBroker, topic: str):
    produce(librdkafka(tls_broker, tls_broker.encrypted), topic, [b"encrypted"])
    assert consume({"bootstrap.servers": tls_broker.plain}, topic, 1) == [b"encrypted"]


@pytest.mark.java
@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_the_tools_of_kafka_produce_and_consume(
    tls_broker: TlsBroker, topic: str, tmp_path: Path, version: str
):
    configs = tls_broker.java_certificate | {"ssl.enabled.protocols": version}
    tools, file = java_tools(tmp_path, tls_broker.mutual, configs)
    tools.run(TOPICS, "--create", "--topic", topic, "--command-config", file)
    tools.run(
        *(CONSOLE_PRODUCER, "--topic", topic, "--command-config", file),
        stdin="first\nsecond\nthird\n",
    )
    consumed = tools.run(
        *(CONSOLE_CONSUMER, "--topic", topic, "--command-config", file),
        *("--from-beginning", "--max-messages", "3", "--timeout-ms", "30000"),
    )
    assert consumed.split() == ["first", "second", "third"]


@pytest.mark.java
def test_a_tool_of_kafka_hears_that_it_has_to_show_a_certificate(
    tls_broker: TlsBroker, tmp_path: Path
):
    tools, file = java_tools(tmp_path, tls_broker.mutual, tls_broker.java_trust)
    words = tools.words(TOPICS, "--list", "--command-config", file)
    # In TLS 1.3 the client hears of it behind the handshake; it does not try again.
    assert "Failed to process post-handshake messages" in words
