//! The Rust end of the lines between scenarios and client programs: questions, records, refusals.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Room for records of 10 MB.
pub const LARGE_BYTES: &str = "12000000";
/// How long a client may take for anything, on two busy cores.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes, which are base64 in JSON.
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Bytes).map_err(D::Error::custom)
    }
}

/// A pair in JSON; a value may be null.
pub type Header = (String, Option<Bytes>);

/// A record to produce; without a timestamp the client takes its own.
#[derive(Deserialize)]
pub struct Sent {
    pub value: Option<Bytes>,
    pub key: Option<Bytes>,
    pub headers: Vec<Header>,
    pub timestamp_ms: Option<i64>,
    pub partition: i32,
}

/// A record that was consumed.
#[derive(Serialize)]
pub struct Received {
    pub offset: i64,
    pub value: Option<Bytes>,
    pub key: Option<Bytes>,
    pub headers: Vec<Header>,
    pub timestamp_ms: i64,
    pub timestamp_type: Option<i32>,
    pub partition: i32,
}

/// Where a consumer begins: an offset, or one of the words "beginning" and "end".
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Start {
    Offset(i64),
    Word(String),
}

/// Every verb with its arguments.
#[derive(Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case")]
pub enum Question {
    Produce {
        topic: String,
        records: Vec<Sent>,
        acks: String,
        compression: String,
        idempotent: bool,
    },
    Consume {
        topic: String,
        count: usize,
        start: Start,
        partition: i32,
        isolation: String,
        wait_s: f64,
    },
    ConsumeInGroup {
        group: String,
        topic: String,
        count: usize,
    },
    Watermarks {
        topic: String,
        partition: i32,
    },
    OffsetForTime {
        topic: String,
        timestamp_ms: i64,
    },
    Begin {
        producer: String,
        transactional_id: String,
        topic: String,
        records: Vec<Sent>,
    },
    End {
        producer: String,
        commit: bool,
        group: Option<String>,
        topic: Option<String>,
        offset: Option<i64>,
    },
    CreateTopic {
        topic: String,
        partitions: i32,
        configs: BTreeMap<String, String>,
    },
    DeleteTopic {
        topic: String,
    },
    Topics,
    Leaders {
        topic: String,
    },
    CreatePartitions {
        topic: String,
        total: usize,
    },
    TopicConfigs {
        topic: String,
    },
    AlterTopicConfig {
        topic: String,
        name: String,
        value: String,
    },
    DeleteRecords {
        topic: String,
        before_offset: i64,
    },
    Cluster,
    Groups,
    GroupOffsets {
        group: String,
        topic: String,
    },
    DeleteGroup {
        group: String,
    },
}

/// Why a question was not answered, with the error code where the client tells it.
pub struct Refusal {
    pub words: String,
    pub code: Option<i32>,
}

impl Refusal {
    pub fn new(words: impl Into<String>) -> Refusal {
        Refusal { words: words.into(), code: None }
    }
}

impl From<RDKafkaErrorCode> for Refusal {
    fn from(code: RDKafkaErrorCode) -> Refusal {
        // Negative ones are librdkafka's own, but for -1, which nobody asks for.
        let number = code as i32;
        Refusal { words: code.to_string(), code: (number > 0).then_some(number) }
    }
}

impl From<KafkaError> for Refusal {
    fn from(error: KafkaError) -> Refusal {
        let known = match &error {
            KafkaError::AdminOp(code) => Some(*code),
            other => other.rdkafka_error_code(),
        };
        Refusal { words: error.to_string(), code: known.and_then(|code| Refusal::from(code).code) }
    }
}

pub type Answer<T> = Result<T, Refusal>;
