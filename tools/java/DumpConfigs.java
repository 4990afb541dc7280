import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * Prints what Apache Kafka knows about its configs of every kind of resource as one JSON object.
 *
 * Run it on the class path of a broker:
 *
 *     java -cp '.cache/jars/kafka-4.3.1/*' tools/java/DumpConfigs.java < candidates.json
 *
 * Standard input may hold texts to try on every config of a type, {"INT": ["7", "seven"]}; each
 * definition then says how Kafka takes them: the value it would show, or its error message.
 */
public class DumpConfigs {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        byte[] input = System.in.readAllBytes();
        Map<?, ?> candidates = input.length == 0 ? Map.of() : json.readValue(input, Map.class);

        Map<String, Object> dump = new TreeMap<>();
        dump.put("topic", definitions(LogConfig.configKeys(), candidates));
        dump.put("broker", definitions(AbstractKafkaConfig.CONFIG_DEF.configKeys(), candidates));
        dump.put("group", definitions(GroupConfig.CONFIG_DEF.configKeys(), candidates));
        dump.put("client_metrics",
            definitions(ClientMetricsConfigs.configDef().configKeys(), candidates));
        dump.put("update_modes", new TreeMap<>(DynamicBrokerConfig.dynamicConfigUpdateModes()));
        dump.put("topic_synonyms", topicSynonyms());
        dump.put("group_synonyms", groupSynonyms());
        System.out.println(json.writeValueAsString(dump));
    }

    private static Map<String, Object> definitions(
        Map<String, ConfigDef.ConfigKey> keys, Map<?, ?> candidates
    ) {
        Map<String, Object> definitions = new TreeMap<>();
        for (ConfigDef.ConfigKey key : keys.values()) {
            Map<String, Object> definition = new TreeMap<>();
            definition.put("type", key.type.name());
            definition.put("has_default", key.hasDefault());
            definition.put("default", key.hasDefault()
                ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            definition.put("internal", key.internalConfig);
            definition.put("verdicts", verdicts(key, candidates));
            definitions.put(key.name, definition);
        }
        return definitions;
    }

    private static Map<String, Object> verdicts(ConfigDef.ConfigKey key, Map<?, ?> candidates) {
        Map<String, Object> verdicts = new TreeMap<>();
        Object texts = candidates.get(key.type.name());
        if (texts == null) {
            return verdicts;
        }
        ConfigDef alone = new ConfigDef().define(key);
        for (Object text : (List<?>) texts) {
            try {
                Object value = alone.parse(Map.of(key.name, text)).get(key.name);
                verdicts.put((String) text,
                    Map.of("value", ConfigDef.convertToString(value, key.type)));
            } catch (ConfigException error) {
                verdicts.put((String) text, Map.of("error", error.getMessage()));
            }
        }
        return verdicts;
    }

    private static Map<String, Object> topicSynonyms() {
        Map<String, Object> synonyms = new TreeMap<>();
        ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.forEach((name, list) -> {
            List<List<String>> entries = new ArrayList<>();
            for (ConfigSynonym synonym : list) {
                entries.add(List.of(synonym.name(), synonym.converter().apply("1")));
            }
            synonyms.put(name, entries);
        });
        return synonyms;
    }

    private static Map<String, Object> groupSynonyms() {
        Map<String, Object> synonyms = new TreeMap<>();
        GroupConfig.ALL_GROUP_CONFIG_SYNONYMS.forEach(
            (name, synonym) -> synonyms.put(name, synonym.orElse(null)));
        return synonyms;
    }
}
