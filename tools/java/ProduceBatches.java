import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Sends batches with Kafka's Java producer, exactly as told.
 *
 * Arguments: the bootstrap servers. Standard input: a JSON array of batches
 * {topic, compression, mode, records: [{timestamp, key, value, headers: [[key, value]]}]},
 * with bytes in base64. A mode is "plain", "idempotent", "commit" or "abort"; the last two send
 * the batch in a transaction and end it so.
 */
public class ProduceBatches {
    public static void main(String[] arguments) throws Exception {
        for (JsonNode batch : new ObjectMapper().readTree(System.in)) {
            send(arguments[0], batch);
        }
    }

    private static void send(String bootstrap, JsonNode batch) throws Exception {
        String mode = batch.get("mode").asText();
        boolean transactional = mode.equals("commit") || mode.equals("abort");
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("compression.type", batch.get("compression").asText());
        config.put("enable.idempotence", !mode.equals("plain"));
        // All records of the batch are sent within the linger time, so they share it.
        config.put("linger.ms", 2000);
        config.put("batch.size", 1000000);
        if (transactional) {
            config.put("transactional.id", "golden");
        }
        ByteArraySerializer serializer = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, serializer, serializer)) {
            if (transactional) {
                producer.initTransactions();
                producer.beginTransaction();
            }
            // Known partitions first: a topic made by the first record would delay it.
            producer.partitionsFor(batch.get("topic").asText());
            for (JsonNode record : batch.get("records")) {
                producer.send(recordOf(batch.get("topic").asText(), record));
            }
            producer.flush();
            if (mode.equals("commit")) {
                producer.commitTransaction();
            } else if (mode.equals("abort")) {
                producer.abortTransaction();
            }
        }
    }

    private static ProducerRecord<byte[], byte[]> recordOf(String topic, JsonNode record) {
        Headers headers = new RecordHeaders();
        for (JsonNode header : record.get("headers")) {
            headers.add(header.get(0).asText(), bytesOf(header.get(1)));
        }
        return new ProducerRecord<>(topic, 0, record.get("timestamp").asLong(),
            bytesOf(record.get("key")), bytesOf(record.get("value")), headers);
    }

    private static byte[] bytesOf(JsonNode text) {
        return text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }
}
