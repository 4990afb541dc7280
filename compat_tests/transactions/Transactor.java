import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Transactions of Kafka's Java clients, of whichever version is on the class path; see program.py. */
public class Transactor {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final String END = "end";

    private final String bootstrap;
    private final List<KafkaProducer<String, String>> producers = new ArrayList<>();

    private Transactor(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    public static void main(String[] arguments) throws Exception {
        Transactor transactor = new Transactor(arguments[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(transactor.answer(line.split("\t")));
            System.out.flush();
        }
        System.exit(0);
    }

    private String answer(String[] words) {
        try {
            return "ok\t" + obey(words);
        } catch (ExecutionException refusal) {
            return "refused\t" + refusal.getCause().toString().replace('\n', ' ');
        } catch (KafkaException refusal) {
            return "refused\t" + refusal.toString().replace('\n', ' ');
        } catch (Exception error) {
            return "error\t" + error.toString().replace('\n', ' ');
        }
    }

    private String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "open":
                producers.add(open(words[1], words[2]));
                return String.valueOf(producers.size() - 1);
            case "begin":
                producer(words).beginTransaction();
                return "";
            case "send":
                send(producer(words), words[2], Integer.parseInt(words[3]), List.of(words[4].split(",")));
                return "";
            case "commit":
                producer(words).commitTransaction();
                return "";
            case "abort":
                producer(words).abortTransaction();
                return "";
            case "copy":
                return copy(producer(words), words[2], words[3], words[4], Integer.parseInt(words[5]),
                    words[6].equals("commit"));
            case "read":
                return read(words[1], Integer.parseInt(words[2]), words[3], Long.parseLong(words[4]));
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private KafkaProducer<String, String> producer(String[] words) {
        return producers.get(Integer.parseInt(words[1]));
    }

    private KafkaProducer<String, String> open(String transactionalId, String timeoutMs) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("transactional.id", transactionalId);
        properties.put("transaction.timeout.ms", timeoutMs);
        properties.put("delivery.timeout.ms", String.valueOf(TIMEOUT.toMillis()));
        properties.put("request.timeout.ms", "10000");
        KafkaProducer<String, String> producer =
            new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    private static void send(
        KafkaProducer<String, String> producer, String topic, int partition, List<String> values
    ) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (String value : values) {
            sent.add(producer.send(new ProducerRecord<>(topic, partition, null, value)));
        }
        producer.flush();
        for (Future<RecordMetadata> each : sent) {
            each.get();
        }
    }

    private String copy(
        KafkaProducer<String, String> producer, String source, String target, String group, int count,
        boolean commit
    ) throws Exception {
        Properties properties = consumerProperties("read_committed");
        properties.put("group.id", group);
        properties.put("max.poll.records", String.valueOf(count));
        List<String> read = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer(properties)) {
            consumer.subscribe(List.of(source));
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            long next = 0;
            while (read.size() < count && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    if (read.size() < count) {
                        read.add(record.value());
                        next = record.offset() + 1;
                    }
                }
            }
            producer.beginTransaction();
            List<String> capitals = new ArrayList<>();
            read.forEach(value -> capitals.add(value.toUpperCase()));
            send(producer, target, 0, capitals);
            producer.sendOffsetsToTransaction(
                Map.of(new TopicPartition(source, 0), new OffsetAndMetadata(next)), consumer.groupMetadata());
            if (commit) {
                producer.commitTransaction();
            } else {
                producer.abortTransaction();
            }
        }
        return String.join(",", read);
    }

    private String read(String topic, int partition, String isolation, long timeoutMs) {
        List<String> read = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer(consumerProperties(isolation))) {
            TopicPartition assigned = new TopicPartition(topic, partition);
            consumer.assign(List.of(assigned));
            consumer.seekToBeginning(List.of(assigned));
            long deadline = System.nanoTime() + timeoutMs * 1_000_000;
            while (System.nanoTime() < deadline && (read.isEmpty() || !read.get(read.size() - 1).equals(END))) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> read.add(record.value()));
            }
        }
        return String.join(",", read);
    }

    private Properties consumerProperties(String isolation) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("isolation.level", isolation);
        properties.put("enable.auto.commit", "false");
        properties.put("auto.offset.reset", "earliest");
        return properties;
    }

    private static KafkaConsumer<String, String> consumer(Properties properties) {
        return new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
    }
}
