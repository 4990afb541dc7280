"""What stands in a partition, as librdkafka reads it under either isolation level."""

from contextlib import closing

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition


def read_values(
    bootstrap: str, topic: str, *, committed: bool = True, partition: int = 0
) -> list[str]:
    """All values from the beginning to the end; with ``committed``, to the last stable offset."""
    configs = {
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "check.crcs": True,
        "isolation.level": "read_committed" if committed else "read_uncommitted",
    }
    values: list[str] = []
    with closing(Consumer(configs)) as consumer:
        consumer.assign([TopicPartition(topic, partition, 0)])
        while True:
            message = consumer.poll(10)
            assert message is not None, "the broker does not answer"
            if message.error() is None:
                values.append(message.value().decode())
            elif message.error().code() == KafkaError._PARTITION_EOF:
                return values
            else:
                raise KafkaException(message.error())
