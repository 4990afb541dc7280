// A member of a group, which tells what it does, one JSON object per line, in the words of Kafka's
// VerifiableConsumer (see compat_tests/member_events.py).

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public final class Member implements ConsumerRebalanceListener {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream EVENTS = System.out;

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err); // whoever logs must not tell events
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            options.put(arguments[i].substring(2), arguments[i + 1]);
        }
        CountDownLatch closed = new CountDownLatch(1);
        KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(
                configs(options), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try {
                closed.await();
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }));
        try {
            consumer.subscribe(Collections.singleton(options.get("topic")), new Member());
            while (true) {
                step(consumer);
            }
        } catch (WakeupException stopping) {
            consumer.close();
        } finally {
            closed.countDown();
        }
    }

    private static Properties configs(Map<String, String> options) {
        Properties configs = new Properties();
        configs.put("bootstrap.servers", options.get("bootstrap"));
        configs.put("group.id", options.get("group"));
        configs.put("auto.offset.reset", "earliest");
        configs.put("enable.auto.commit", false);
        if (options.containsKey("instance-id")) {
            configs.put("group.instance.id", options.get("instance-id"));
        }
        if (options.get("kind").equals("consumer")) {
            configs.put("group.protocol", "consumer");
            return configs;
        }
        configs.put("session.timeout.ms", options.get("session-timeout-ms"));
        configs.put("heartbeat.interval.ms", 500);
        String assignor =
            options.get("kind").equals("cooperative") ? "CooperativeStickyAssignor" : "RangeAssignor";
        configs.put(
            "partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor);
        return configs;
    }

    private static void step(KafkaConsumer<byte[], byte[]> consumer) throws Exception {
        ConsumerRecords<byte[], byte[]> polled = consumer.poll(Duration.ofMillis(200));
        for (TopicPartition partition : polled.partitions()) {
            List<ConsumerRecord<byte[], byte[]>> records = polled.records(partition);
            long first = records.get(0).offset();
            long last = records.get(records.size() - 1).offset();
            Map<String, Object> span = described(partition);
            span.put("count", records.size());
            span.put("minOffset", first);
            span.put("maxOffset", last);
            tell("records_consumed", "partitions", Collections.singletonList(span));
            consumer.commitSync(
                Collections.singletonMap(partition, new OffsetAndMetadata(last + 1)));
            Map<String, Object> committed = described(partition);
            committed.put("offset", last + 1);
            tell("offsets_committed", "offsets", Collections.singletonList(committed));
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        tellPartitions("partitions_assigned", partitions);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        tellPartitions("partitions_revoked", partitions);
    }

    private static void tellPartitions(String name, Collection<TopicPartition> partitions) {
        List<Map<String, Object>> told = new ArrayList<>();
        partitions.forEach(partition -> told.add(described(partition)));
        try {
            tell(name, "partitions", told);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private static Map<String, Object> described(TopicPartition partition) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("topic", partition.topic());
        described.put("partition", partition.partition());
        return described;
    }

    private static void tell(String name, String what, Object told) throws Exception {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("timestamp", System.currentTimeMillis());
        event.put("name", name);
        event.put("success", true);
        event.put(what, told);
        EVENTS.println(JSON.writeValueAsString(event));
        EVENTS.flush();
    }
}
