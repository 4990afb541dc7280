//! Producers with a transactional id, by the names that scenarios give them.

use std::collections::HashMap;

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::Producer;
use rdkafka::Offset;

use crate::lines::{Answer, Refusal, Sent, PATIENCE};
use crate::records::{one_partition, producer, send, CountingProducer};

pub struct Transactions {
    bootstrap: String,
    producers: HashMap<String, CountingProducer>,
}

impl Transactions {
    pub fn new(bootstrap: &str) -> Transactions {
        Transactions { bootstrap: bootstrap.to_owned(), producers: HashMap::new() }
    }

    pub fn begin(
        &mut self,
        name: String,
        transactional_id: &str,
        topic: &str,
        records: &[Sent],
    ) -> Answer<()> {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &self.bootstrap).set("transactional.id", transactional_id);
        let opened = producer(&config)?;
        opened.init_transactions(PATIENCE)?;
        opened.begin_transaction()?;
        send(&opened, topic, records)?;
        self.producers.insert(name, opened);
        Ok(())
    }

    /// Commits or aborts; ``position`` is ((group, topic), offset) for partition 0.
    pub fn end(
        &mut self,
        name: &str,
        commit: bool,
        position: Option<((String, String), i64)>,
    ) -> Answer<()> {
        let ending = self
            .producers
            .remove(name)
            .ok_or_else(|| Refusal::new(format!("no producer {name}")))?;
        if let Some(((group, topic), offset)) = position {
            let consumer: BaseConsumer = ClientConfig::new()
                .set("bootstrap.servers", &self.bootstrap)
                .set("group.id", &group)
                .create()?;
            let group = consumer
                .group_metadata()
                .ok_or_else(|| Refusal::new("no metadata of the group"))?;
            let offsets = one_partition(&topic, 0, Offset::Offset(offset))?;
            ending.send_offsets_to_transaction(&offsets, &group, PATIENCE)?;
        }
        if commit {
            ending.commit_transaction(PATIENCE)?;
        } else {
            ending.abort_transaction(PATIENCE)?;
        }
        Ok(())
    }
}
