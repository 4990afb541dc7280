// Producers and consumers, a new one for each question.

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

final class Records {
    static final int LARGE_BYTES = 12_000_000;
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final String bootstrap;

    Records(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    List<Long> produce(JsonNode question) throws Exception {
        Properties configs = new Properties();
        configs.put("acks", question.get("acks").asText());
        configs.put("compression.type", question.get("compression").asText());
        configs.put("enable.idempotence", question.get("idempotent").asBoolean());
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap, configs)) {
            return send(producer, question);
        }
    }

    List<Object> consume(JsonNode question) {
        Properties configs = new Properties();
        configs.put("isolation.level", question.get("isolation").asText());
        configs.put("auto.offset.reset", "none");
        TopicPartition partition =
            new TopicPartition(question.get("topic").asText(), question.get("partition").asInt());
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(configs)) {
            consumer.assign(Collections.singleton(partition));
            JsonNode start = question.get("start");
            if (start.isNumber()) {
                consumer.seek(partition, start.asLong());
            } else if (start.asText().equals("beginning")) {
                consumer.seekToBeginning(Collections.singleton(partition));
            } else {
                consumer.seekToEnd(Collections.singleton(partition));
            }
            long waitMs = (long) (question.get("wait_s").asDouble() * 1000);
            return poll(consumer, question.get("count").asInt(), waitMs);
        }
    }

    List<Object> consumeInGroup(JsonNode question) {
        Properties configs = new Properties();
        configs.put("group.id", question.get("group").asText());
        configs.put("auto.offset.reset", "earliest");
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(configs)) {
            consumer.subscribe(Collections.singleton(question.get("topic").asText()));
            List<Object> found = poll(consumer, question.get("count").asInt(), PATIENCE.toMillis());
            consumer.commitSync();
            return found;
        }
    }

    List<Long> watermarks(JsonNode question) {
        TopicPartition partition =
            new TopicPartition(question.get("topic").asText(), question.get("partition").asInt());
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(new Properties())) {
            return Arrays.asList(
                consumer.beginningOffsets(Collections.singleton(partition)).get(partition),
                consumer.endOffsets(Collections.singleton(partition)).get(partition));
        }
    }

    Long offsetForTime(JsonNode question) {
        TopicPartition partition = new TopicPartition(question.get("topic").asText(), 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(new Properties())) {
            OffsetAndTimestamp found =
                consumer
                    .offsetsForTimes(
                        Collections.singletonMap(partition, question.get("timestamp_ms").asLong()))
                    .get(partition);
            return found == null ? null : found.offset();
        }
    }

    static KafkaProducer<byte[], byte[]> producer(String bootstrap, Properties configs) {
        configs.put("bootstrap.servers", bootstrap);
        configs.put("max.request.size", LARGE_BYTES);
        configs.put("linger.ms", 50);
        configs.put("delivery.timeout.ms", (int) PATIENCE.toMillis());
        configs.put("request.timeout.ms", 15_000);
        configs.put("max.block.ms", PATIENCE.toMillis());
        return new KafkaProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Sends the records of a question and waits for all of them. */
    static List<Long> send(KafkaProducer<byte[], byte[]> producer, JsonNode question)
        throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode record : question.get("records")) {
            List<Header> headers = new ArrayList<>();
            for (JsonNode header : record.get("headers")) {
                headers.add(new RecordHeader(header.get(0).asText(), bytes(header.get(1))));
            }
            JsonNode timestamp = record.get("timestamp_ms");
            sent.add(
                producer.send(
                    new ProducerRecord<>(
                        question.get("topic").asText(),
                        record.get("partition").asInt(),
                        timestamp.isNull() ? null : timestamp.asLong(),
                        bytes(record.get("key")),
                        bytes(record.get("value")),
                        headers)));
        }
        producer.flush();
        List<Long> offsets = new ArrayList<>();
        for (Future<RecordMetadata> each : sent) {
            offsets.add(each.get().offset());
        }
        return offsets;
    }

    private KafkaConsumer<byte[], byte[]> consumer(Properties configs) {
        configs.put("bootstrap.servers", bootstrap);
        configs.put("enable.auto.commit", false);
        configs.put("max.partition.fetch.bytes", LARGE_BYTES);
        return new KafkaConsumer<>(
            configs, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static List<Object> poll(
        KafkaConsumer<byte[], byte[]> consumer, int count, long waitMs
    ) {
        List<Object> found = new ArrayList<>();
        long deadline = System.currentTimeMillis() + waitMs;
        while (found.size() < count && System.currentTimeMillis() < deadline) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                found.add(told(record));
            }
        }
        return found;
    }

    private static Map<String, Object> told(ConsumerRecord<byte[], byte[]> record) {
        List<List<Object>> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(Arrays.asList(header.key(), text(header.value())));
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("offset", record.offset());
        told.put("value", text(record.value()));
        told.put("key", text(record.key()));
        told.put("headers", headers);
        told.put("timestamp_ms", record.timestamp());
        told.put("timestamp_type", record.timestampType().id);
        told.put("partition", record.partition());
        return told;
    }

    private static byte[] bytes(JsonNode text) {
        return text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }
}
