// Producers with a transactional id, by the names that scenarios give them.

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;

final class Transactions implements AutoCloseable {
    private final String bootstrap;
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();

    Transactions(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    Object begin(JsonNode question) throws Exception {
        Properties configs = new Properties();
        configs.put("transactional.id", question.get("transactional_id").asText());
        KafkaProducer<byte[], byte[]> producer = Records.producer(bootstrap, configs);
        producers.put(question.get("producer").asText(), producer);
        producer.initTransactions();
        producer.beginTransaction();
        Records.send(producer, question);
        return null;
    }

    Object end(JsonNode question) {
        KafkaProducer<byte[], byte[]> producer =
            producers.remove(question.get("producer").asText());
        try {
            if (!question.get("group").isNull()) {
                producer.sendOffsetsToTransaction(
                    Collections.singletonMap(
                        new TopicPartition(question.get("topic").asText(), 0),
                        new OffsetAndMetadata(question.get("offset").asLong())),
                    new ConsumerGroupMetadata(question.get("group").asText()));
            }
            if (question.get("commit").asBoolean()) {
                producer.commitTransaction();
            } else {
                producer.abortTransaction();
            }
            return null;
        } finally {
            producer.close(Duration.ZERO);
        }
    }

    @Override
    public void close() {
        producers.values().forEach(producer -> producer.close(Duration.ZERO));
    }
}
