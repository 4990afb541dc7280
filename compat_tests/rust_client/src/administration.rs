//! Topics, configs, offsets and groups, with the crate's admin client.

use std::collections::BTreeMap;

use futures_executor::block_on;
use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, ConfigResource, ConfigSource, NewPartitions, NewTopic,
    ResourceSpecifier, TopicReplication,
};
use rdkafka::bindings::rd_kafka_controllerid;
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaResult, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};

use crate::lines::{Answer, Refusal, PATIENCE};
use crate::records::one_partition;

pub struct Administration {
    bootstrap: String,
    admin: AdminClient<DefaultClientContext>,
    options: AdminOptions,
}

/// The one result of a question about one thing.
fn only<T, K>(results: KafkaResult<Vec<Result<T, (K, RDKafkaErrorCode)>>>) -> Answer<T> {
    match results?.pop() {
        Some(Ok(result)) => Ok(result),
        Some(Err((_, code))) => Err(code.into()),
        None => Err(Refusal::new("no result")),
    }
}

impl Administration {
    pub fn new(bootstrap: &str) -> KafkaResult<Administration> {
        Ok(Administration {
            bootstrap: bootstrap.to_owned(),
            admin: ClientConfig::new().set("bootstrap.servers", bootstrap).create()?,
            options: AdminOptions::new()
                .request_timeout(Some(PATIENCE))
                .operation_timeout(Some(PATIENCE)),
        })
    }

    pub fn create_topic(
        &self,
        topic: &str,
        partitions: i32,
        configs: &BTreeMap<String, String>,
    ) -> Answer<()> {
        let mut new = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
        for (name, value) in configs {
            new = new.set(name, value);
        }
        only(block_on(self.admin.create_topics([&new], &self.options)))?;
        Ok(())
    }

    pub fn delete_topic(&self, topic: &str) -> Answer<()> {
        only(block_on(self.admin.delete_topics(&[topic], &self.options)))?;
        Ok(())
    }

    pub fn topics(&self) -> Answer<Vec<String>> {
        let metadata = self.admin.inner().fetch_metadata(None, PATIENCE)?;
        Ok(metadata.topics().iter().map(|topic| topic.name().to_owned()).collect())
    }

    pub fn leaders(&self, topic: &str) -> Answer<BTreeMap<i32, i32>> {
        let metadata = self.admin.inner().fetch_metadata(Some(topic), PATIENCE)?;
        let partitions = metadata.topics().iter().flat_map(|found| found.partitions());
        Ok(partitions.map(|partition| (partition.id(), partition.leader())).collect())
    }

    pub fn create_partitions(&self, topic: &str, total: usize) -> Answer<()> {
        let new = NewPartitions::new(topic, total);
        only(block_on(self.admin.create_partitions([&new], &self.options)))?;
        Ok(())
    }

    pub fn topic_configs(&self, topic: &str) -> Answer<BTreeMap<String, Option<String>>> {
        let described = self.described(topic)?;
        Ok(described.entries.into_iter().map(|entry| (entry.name, entry.value)).collect())
    }

    /// AlterConfigs replaces all configs, so those that were set must be given again.
    pub fn alter_topic_config(&self, topic: &str, name: &str, value: &str) -> Answer<()> {
        let described = self.described(topic)?;
        let mut change = AlterConfig::new(ResourceSpecifier::Topic(topic));
        for entry in &described.entries {
            if let (ConfigSource::DynamicTopic, Some(set)) = (&entry.source, &entry.value) {
                change = change.set(&entry.name, set);
            }
        }
        change = change.set(name, value);
        only(block_on(self.admin.alter_configs([&change], &self.options)))?;
        Ok(())
    }

    pub fn delete_records(&self, topic: &str, before_offset: i64) -> Answer<i64> {
        let before = one_partition(topic, 0, Offset::Offset(before_offset))?;
        let deleted = block_on(self.admin.delete_records(&before, &self.options))?;
        let [place] = &deleted.elements()[..] else {
            return Err(Refusal::new("not one partition"));
        };
        place.error()?;
        place.offset().to_raw().ok_or_else(|| Refusal::new("no offset"))
    }

    pub fn cluster(&self) -> Answer<(String, i32, Vec<i32>)> {
        let client = self.admin.inner();
        let id = client.fetch_cluster_id(PATIENCE).ok_or_else(|| Refusal::new("no cluster id"))?;
        let timeout_ms = PATIENCE.as_millis() as i32;
        // SAFETY: the client lives as long as `self`. The crate has the controller only here.
        let controller = unsafe { rd_kafka_controllerid(client.native_ptr(), timeout_ms) };
        let metadata = client.fetch_metadata(None, PATIENCE)?;
        Ok((id, controller, metadata.brokers().iter().map(|broker| broker.id()).collect()))
    }

    pub fn groups(&self) -> Answer<Vec<String>> {
        let listed = self.admin.inner().fetch_group_list(None, PATIENCE)?;
        Ok(listed.groups().iter().map(|group| group.name().to_owned()).collect())
    }

    /// The admin client has no question for it: a consumer of the group that never joins has.
    pub fn group_offsets(&self, group: &str, topic: &str) -> Answer<BTreeMap<i32, i64>> {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", &self.bootstrap)
            .set("group.id", group)
            .create()?;
        let mut asked = TopicPartitionList::new();
        for partition in self.leaders(topic)?.keys() {
            asked.add_partition(topic, *partition);
        }
        let mut offsets = BTreeMap::new();
        for place in consumer.committed_offsets(asked, PATIENCE)?.elements() {
            place.error()?;
            if let Offset::Offset(offset) = place.offset() {
                offsets.insert(place.partition(), offset);
            }
        }
        Ok(offsets)
    }

    pub fn delete_group(&self, group: &str) -> Answer<()> {
        only(block_on(self.admin.delete_groups(&[group], &self.options)))?;
        Ok(())
    }

    fn described(&self, topic: &str) -> Answer<ConfigResource> {
        let asked = ResourceSpecifier::Topic(topic);
        let mut results = block_on(self.admin.describe_configs([&asked], &self.options))?;
        results.pop().ok_or_else(|| Refusal::new("no result"))?.map_err(Refusal::from)
    }
}
