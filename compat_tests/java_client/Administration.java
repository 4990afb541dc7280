// The admin client, one for all questions.

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

final class Administration implements AutoCloseable {
    private final Admin admin;

    Administration(String bootstrap) {
        Properties configs = new Properties();
        configs.put("bootstrap.servers", bootstrap);
        configs.put("default.api.timeout.ms", (int) Records.PATIENCE.toMillis());
        configs.put("request.timeout.ms", 15_000);
        admin = Admin.create(configs);
    }

    @Override
    public void close() {
        admin.close();
    }

    Object answer(String verb, JsonNode question) throws Exception {
        String topic = question.path("topic").asText();
        switch (verb) {
            case "create_topic":
                return createTopic(topic, question);
            case "delete_topic":
                return admin.deleteTopics(Collections.singleton(topic)).all().get();
            case "topics":
                return admin.listTopics().names().get();
            case "leaders":
                return leaders(topic);
            case "create_partitions":
                NewPartitions wanted = NewPartitions.increaseTo(question.get("total").asInt());
                return admin.createPartitions(Collections.singletonMap(topic, wanted)).all().get();
            case "topic_configs":
                return topicConfigs(topic);
            case "alter_topic_config":
                return alterTopicConfig(topic, question);
            case "delete_records":
                return deleteRecords(topic, question.get("before_offset").asLong());
            case "cluster":
                return cluster();
            case "groups":
                return admin.listConsumerGroups().all().get().stream()
                    .map(group -> group.groupId()).collect(Collectors.toList());
            case "group_offsets":
                return groupOffsets(question.get("group").asText(), topic);
            case "delete_group":
                return admin.deleteConsumerGroups(
                    Collections.singleton(question.get("group").asText())).all().get();
            default:
                throw new UnsupportedOperationException(verb);
        }
    }

    private Object createTopic(String topic, JsonNode question) throws Exception {
        Map<String, String> configs = new HashMap<>();
        question.get("configs").fields()
            .forEachRemaining(each -> configs.put(each.getKey(), each.getValue().asText()));
        NewTopic wanted = new NewTopic(topic, question.get("partitions").asInt(), (short) 1);
        return admin.createTopics(Collections.singleton(wanted.configs(configs))).all().get();
    }

    /** The method that gives all descriptions was renamed in 3.1, and the old name went in 4.0. */
    @SuppressWarnings("unchecked")
    private Map<Integer, Integer> leaders(String topic) throws Exception {
        DescribeTopicsResult result = admin.describeTopics(Collections.singleton(topic));
        List<String> names = Arrays.stream(DescribeTopicsResult.class.getMethods())
            .map(Method::getName).collect(Collectors.toList());
        String name = names.contains("allTopicNames") ? "allTopicNames" : "all";
        KafkaFuture<Map<String, TopicDescription>> described =
            (KafkaFuture<Map<String, TopicDescription>>)
                DescribeTopicsResult.class.getMethod(name).invoke(result);
        Map<Integer, Integer> leaders = new TreeMap<>();
        for (TopicPartitionInfo partition : described.get().get(topic).partitions()) {
            leaders.put(partition.partition(), partition.leader().id());
        }
        return leaders;
    }

    private Map<String, String> topicConfigs(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Collection<ConfigEntry> entries =
            admin.describeConfigs(Collections.singleton(resource)).all().get().get(resource)
                .entries();
        Map<String, String> configs = new TreeMap<>();
        entries.forEach(entry -> configs.put(entry.name(), entry.value()));
        return configs;
    }

    private Object alterTopicConfig(String topic, JsonNode question) throws Exception {
        ConfigEntry entry =
            new ConfigEntry(question.get("name").asText(), question.get("value").asText());
        return admin.incrementalAlterConfigs(
            Collections.singletonMap(
                new ConfigResource(ConfigResource.Type.TOPIC, topic),
                Collections.singleton(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
            .all().get();
    }

    private long deleteRecords(String topic, long beforeOffset) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        return admin.deleteRecords(
            Collections.singletonMap(partition, RecordsToDelete.beforeOffset(beforeOffset)))
            .lowWatermarks().get(partition).get().lowWatermark();
    }

    private List<Object> cluster() throws Exception {
        DescribeClusterResult described = admin.describeCluster();
        return Arrays.asList(
            described.clusterId().get(),
            described.controller().get().id(),
            described.nodes().get().stream().map(node -> node.id()).collect(Collectors.toList()));
    }

    private Map<Integer, Long> groupOffsets(String group, String topic) throws Exception {
        Map<Integer, Long> offsets = new TreeMap<>();
        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()
            .forEach((partition, offset) -> {
                if (partition.topic().equals(topic)) {
                    offsets.put(partition.partition(), offset.offset());
                }
            });
        return offsets;
    }
}
