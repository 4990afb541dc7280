import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Commits transactions for some seconds and says how many, and how long they took.
 *
 * Arguments: bootstrap, topic, partitions, producers, records in each transaction, seconds to warm
 * up, seconds to measure. Each producer has a transactional id and a thread of its own.
 *
 * Kafka's producer 4.3.1 asks whether batches are incomplete before it takes the lock under which it
 * decides to send EndTxn. A thread that begins, sends and commits in between has its EndTxn sent
 * before its batch, which every broker refuses with INVALID_TXN_STATE. With some thousand
 * transactions a second that happens now and then; such a producer is replaced.
 */
public class Transactions {
    private static final int RECORD_BYTES = 100;

    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0];
        String topic = arguments[1];
        int partitions = Integer.parseInt(arguments[2]);
        int producers = Integer.parseInt(arguments[3]);
        int records = Integer.parseInt(arguments[4]);
        double warmUp = Double.parseDouble(arguments[5]);
        double seconds = Double.parseDouble(arguments[6]);
        AtomicReference<Exception> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        List<List<Long>> durations = new ArrayList<>();
        List<KafkaProducer<byte[], byte[]>> open = new ArrayList<>();
        for (int number = 0; number < producers; number++) {
            open.add(open(bootstrap, topic + "-" + number));
        }
        long from = System.nanoTime() + (long) (warmUp * 1e9);
        long until = from + (long) (seconds * 1e9);
        for (int number = 0; number < producers; number++) {
            KafkaProducer<byte[], byte[]> producer = open.get(number);
            String id = topic + "-" + number;
            List<Long> own = new ArrayList<>();
            durations.add(own);
            Thread thread = new Thread(() -> {
                try {
                    runAndReplace(producer, bootstrap, id, topic, partitions, records, from, until, own);
                } catch (Exception error) {
                    failure.set(error);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            failure.get().printStackTrace();
            System.exit(1);
        }
        long[] all = durations.stream().flatMap(List::stream).mapToLong(Long::longValue).sorted().toArray();
        System.out.printf("%d transactions, %.3f ms median, %.3f ms 99th%n", all.length,
            all[all.length / 2] / 1e6, all[(int) (all.length * 0.99)] / 1e6);
    }

    private static KafkaProducer<byte[], byte[]> open(String bootstrap, String id) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("transactional.id", id);
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        return producer;
    }

    private static void runAndReplace(
        KafkaProducer<byte[], byte[]> first, String bootstrap, String id, String topic,
        int partitions, int records, long from, long until, List<Long> durations
    ) {
        KafkaProducer<byte[], byte[]> producer = first;
        while (true) {
            try (KafkaProducer<byte[], byte[]> open = producer) {
                run(open, topic, partitions, records, from, until, durations);
                return;
            } catch (InvalidTxnStateException raced) {
                System.err.println("replaced a producer that sent EndTxn before its batch");
            }
            producer = open(bootstrap, id);
        }
    }

    private static void run(
        KafkaProducer<byte[], byte[]> producer, String topic, int partitions, int records, long from,
        long until, List<Long> durations
    ) {
        byte[] value = new byte[RECORD_BYTES];
        Arrays.fill(value, (byte) 'x');
        int sent = 0;
        for (long began = System.nanoTime(); began < until; began = System.nanoTime()) {
            producer.beginTransaction();
            for (int number = 0; number < records; number++) {
                producer.send(new ProducerRecord<>(topic, sent++ % partitions, null, value));
            }
            producer.commitTransaction();
            if (began >= from) {
                durations.add(System.nanoTime() - began);
            }
        }
    }
}
