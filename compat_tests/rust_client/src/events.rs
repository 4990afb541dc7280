//! What a member of a group tells, one JSON object per line, in the words of Kafka's
//! VerifiableConsumer (see compat_tests/member_events.py), and the options that all members have.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use rdkafka::TopicPartitionList;
use serde_json::{json, Value};

/// The command line of a member.
#[derive(Default)]
pub struct Options {
    pub bootstrap: String,
    pub group: String,
    pub topic: String,
    pub kind: String,
    pub session_timeout_ms: String,
    pub instance_id: Option<String>,
}

impl Options {
    /// Panics at what it does not know.
    pub fn parse(words: &[String]) -> Options {
        let mut options = Options::default();
        for pair in words.chunks(2) {
            let [name, value] = pair else { panic!("{} has no value", pair[0]) };
            let value = value.clone();
            match name.as_str() {
                "--bootstrap" => options.bootstrap = value,
                "--group" => options.group = value,
                "--topic" => options.topic = value,
                "--kind" => options.kind = value,
                "--session-timeout-ms" => options.session_timeout_ms = value,
                "--instance-id" => options.instance_id = Some(value),
                _ => panic!("no option {name}"),
            }
        }
        options
    }
}

fn tell(mut event: Value) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    event["timestamp"] = json!(now.as_millis() as u64);
    let mut out = io::stdout().lock();
    writeln!(out, "{event}").and_then(|()| out.flush()).expect("somebody listens");
}

fn tell_partitions(name: &str, partitions: &TopicPartitionList) {
    let elements = partitions.elements();
    let told: Vec<Value> = elements
        .iter()
        .map(|each| json!({ "topic": each.topic(), "partition": each.partition() }))
        .collect();
    tell(json!({ "name": name, "partitions": told }));
}

/// Partitions that the member owns from now on, besides those it has.
pub fn assigned(partitions: &TopicPartitionList) {
    tell_partitions("partitions_assigned", partitions);
}

/// Partitions that the member does not own any more.
pub fn revoked(partitions: &TopicPartitionList) {
    tell_partitions("partitions_revoked", partitions);
}

/// One record that was read.
pub fn consumed(topic: &str, partition: i32, offset: i64) {
    let read = json!({
        "topic": topic, "partition": partition,
        "minOffset": offset, "maxOffset": offset, "count": 1,
    });
    tell(json!({ "name": "records_consumed", "count": 1, "partitions": [read] }));
}

/// An offset that the coordinator confirmed.
pub fn committed(topic: &str, partition: i32, offset: i64) {
    let place = json!({ "topic": topic, "partition": partition, "offset": offset });
    tell(json!({ "name": "offsets_committed", "success": true, "offsets": [place] }));
}
