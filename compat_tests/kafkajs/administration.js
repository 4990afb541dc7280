// The admin client of kafkajs, in the verbs of scenarios.
"use strict";

const { ConfigResourceTypes } = require("kafkajs");

function administration(admin) {
  const resource = (topic) => ({ type: ConfigResourceTypes.TOPIC, name: topic });

  async function watermarks({ topic, partition }) {
    const listed = await admin.fetchTopicOffsets(topic);
    const { low, high } = listed.find((each) => each.partition === partition);
    return [Number(low), Number(high)];
  }

  // Where there is no such record, kafkajs gives the end.
  async function offsetForTime({ topic, timestamp_ms: timestamp }) {
    const [found] = await admin.fetchTopicOffsetsByTimestamp(topic, timestamp);
    const [{ high }] = await admin.fetchTopicOffsets(topic);
    return found.offset === high ? null : Number(found.offset);
  }

  async function createTopic({ topic, partitions, configs }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
    const wanted = { topic, numPartitions: partitions, replicationFactor: 1, configEntries };
    const created = await admin.createTopics({ topics: [wanted], waitForLeaders: false });
    if (!created) {
      // It answers false instead of raising TOPIC_ALREADY_EXISTS.
      throw Object.assign(new Error("Topic with this name already exists"), { code: 36 });
    }
  }

  async function leaders({ topic }) {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return Object.fromEntries(topics[0].partitions.map((each) => [each.partitionId, each.leader]));
  }

  async function topicConfigs({ topic }) {
    const described = await admin.describeConfigs({
      resources: [resource(topic)],
      includeSynonyms: false,
    });
    const entries = described.resources[0].configEntries;
    return Object.fromEntries(entries.map((entry) => [entry.configName, entry.configValue]));
  }

  // AlterConfigs replaces all configs, so those that were set must be given again.
  async function alterTopicConfig({ topic, name, value }) {
    const described = await admin.describeConfigs({ resources: [resource(topic)] });
    const dynamicTopicConfig = 1;
    const kept = described.resources[0].configEntries
      .filter((entry) => entry.configSource === dynamicTopicConfig && entry.configName !== name)
      .map((entry) => ({ name: entry.configName, value: entry.configValue }));
    const configEntries = [...kept, { name, value }];
    await admin.alterConfigs({ resources: [{ ...resource(topic), configEntries }] });
  }

  // It tells nothing back, so the new first offset is asked for.
  async function deleteRecords({ topic, before_offset: offset }) {
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] });
    const [{ low }] = await admin.fetchTopicOffsets(topic);
    return Number(low);
  }

  async function cluster() {
    const { brokers, controller, clusterId } = await admin.describeCluster();
    return [clusterId, controller, brokers.map((broker) => broker.nodeId)];
  }

  async function groups() {
    const listed = await admin.listGroups();
    return listed.groups.map((group) => group.groupId);
  }

  async function groupOffsets({ group, topic }) {
    const [fetched] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    return Object.fromEntries(
      fetched.partitions.map((each) => [each.partition, Number(each.offset)]),
    );
  }

  return {
    watermarks,
    offset_for_time: offsetForTime,
    create_topic: createTopic,
    delete_topic: ({ topic }) => admin.deleteTopics({ topics: [topic] }),
    topics: () => admin.listTopics(),
    leaders,
    create_partitions: ({ topic, total }) =>
      admin.createPartitions({ topicPartitions: [{ topic, count: total }] }),
    topic_configs: topicConfigs,
    alter_topic_config: alterTopicConfig,
    delete_records: deleteRecords,
    cluster,
    groups,
    group_offsets: groupOffsets,
    delete_group: ({ group }) => admin.deleteGroups([group]),
  };
}

module.exports = { administration };
