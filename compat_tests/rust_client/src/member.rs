//! A member of a group: polls, commits what it polled, and leaves at SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, FromClientConfigAndContext};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaResult;
use rdkafka::Message;

use crate::events::{self, Options};

/// Tells of partitions that come and go, before the client acts on it.
struct Told;

impl ClientContext for Told {}

impl ConsumerContext for Told {
    fn pre_rebalance(&self, _: &BaseConsumer<Told>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(partitions) => events::assigned(partitions),
            Rebalance::Revoke(partitions) => events::revoked(partitions),
            Rebalance::Error(error) => eprintln!("{error}"),
        }
    }
}

pub fn run(options: &Options) {
    let stopping = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&stopping))
        .expect("a handler of SIGTERM");
    if let Err(error) = live(options, &stopping) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// The consumer is closed at the end of this function: it revokes and leaves.
fn live(options: &Options, stopping: &AtomicBool) -> KafkaResult<()> {
    let consumer = BaseConsumer::from_config_and_context(&config(options), Told)?;
    consumer.subscribe(&[&options.topic])?;
    while !stopping.load(Ordering::Relaxed) {
        let Some(message) = consumer.poll(Duration::from_millis(200)) else { continue };
        let message = message?;
        let (partition, offset) = (message.partition(), message.offset());
        events::consumed(&options.topic, partition, offset);
        // One by one: a poll may serve a rebalance, and then nothing must be left to commit.
        consumer.commit_message(&message, CommitMode::Sync)?;
        events::committed(&options.topic, partition, offset + 1);
    }
    Ok(())
}

fn config(options: &Options) -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", &options.bootstrap)
        .set("group.id", &options.group)
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false");
    match options.kind.as_str() {
        // The session timeout is a config of the group there (KIP-848).
        "consumer" => config.set("group.protocol", "consumer"),
        kind => config
            .set("partition.assignment.strategy", assignor(kind))
            .set("session.timeout.ms", &options.session_timeout_ms)
            .set("heartbeat.interval.ms", "500"),
    };
    if let Some(instance_id) = &options.instance_id {
        config.set("group.instance.id", instance_id);
    }
    config
}

fn assignor(kind: &str) -> &'static str {
    match kind {
        "cooperative" => "cooperative-sticky",
        _ => "range",
    }
}
