//! Records and positions, with the crate's base producer and base consumer.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, FromClientConfigAndContext};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Header, Headers, OwnedHeaders, Timestamp};
use rdkafka::producer::{BaseProducer, BaseRecord, DeliveryResult, Producer, ProducerContext};
use rdkafka::{Message, Offset, TopicPartitionList};

use crate::lines::{Answer, Bytes, Received, Refusal, Sent, Start, LARGE_BYTES, PATIENCE};

/// Keeps what became of each record, by its place in the question.
#[derive(Default)]
pub struct Deliveries(Mutex<Vec<(usize, Result<i64, KafkaError>)>>);

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = usize;

    fn delivery(&self, delivered: &DeliveryResult<'_>, place: usize) {
        let became = match delivered {
            Ok(message) => Ok(message.offset()),
            Err((error, _)) => Err(error.clone()),
        };
        self.0.lock().unwrap().push((place, became));
    }
}

pub type CountingProducer = BaseProducer<Deliveries>;

/// A producer that remembers deliveries.
pub fn producer(config: &ClientConfig) -> Answer<CountingProducer> {
    Ok(BaseProducer::from_config_and_context(config, Deliveries::default())?)
}

/// Sends all and waits for all; gives their offsets in the order in which they were given.
pub fn send(producer: &CountingProducer, topic: &str, records: &[Sent]) -> Answer<Vec<i64>> {
    for (place, sent) in records.iter().enumerate() {
        let mut record = BaseRecord::<[u8], [u8], usize>::with_opaque_to(topic, place);
        record = record.partition(sent.partition).headers(headers(sent));
        record.key = sent.key.as_ref().map(|bytes| bytes.0.as_slice());
        record.payload = sent.value.as_ref().map(|bytes| bytes.0.as_slice());
        record.timestamp = sent.timestamp_ms;
        producer.send(record).map_err(|(error, _)| error)?;
    }
    producer.flush(PATIENCE)?;
    let mut deliveries = std::mem::take(&mut *producer.context().0.lock().unwrap());
    if deliveries.len() != records.len() {
        return Err(Refusal::new(format!("{} deliveries", deliveries.len())));
    }
    deliveries.sort_by_key(|(place, _)| *place);
    let offsets: Result<Vec<i64>, KafkaError> =
        deliveries.into_iter().map(|(_, became)| became).collect();
    Ok(offsets?)
}

fn headers(sent: &Sent) -> OwnedHeaders {
    sent.headers.iter().fold(OwnedHeaders::new(), |found, (key, value)| {
        found.insert(Header { key, value: value.as_ref().map(|bytes| &bytes.0) })
    })
}

pub struct Records {
    bootstrap: String,
}

impl Records {
    pub fn new(bootstrap: &str) -> Records {
        Records { bootstrap: bootstrap.to_owned() }
    }

    pub fn produce(
        &self,
        topic: &str,
        records: &[Sent],
        acks: &str,
        compression: &str,
        idempotent: bool,
    ) -> Answer<Vec<i64>> {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", &self.bootstrap)
            .set("acks", acks)
            .set("compression.type", compression)
            .set("enable.idempotence", idempotent.to_string())
            .set("message.max.bytes", LARGE_BYTES)
            .set("linger.ms", "50")
            .set("message.timeout.ms", PATIENCE.as_millis().to_string());
        send(&producer(&config)?, topic, records)
    }

    pub fn consume(
        &self,
        topic: &str,
        partition: i32,
        start: Start,
        count: usize,
        isolation: &str,
        wait_s: f64,
    ) -> Answer<Vec<Received>> {
        let consumer = self.consumer(&[("isolation.level", isolation)])?;
        let offset = match start {
            Start::Offset(offset) => Offset::Offset(offset),
            Start::Word(word) if word == "end" => Offset::End,
            Start::Word(_) => Offset::Beginning,
        };
        consumer.assign(&one_partition(topic, partition, offset)?)?;
        poll(&consumer, count, Duration::from_secs_f64(wait_s))
    }

    pub fn consume_in_group(
        &self,
        group: &str,
        topic: &str,
        count: usize,
    ) -> Answer<Vec<Received>> {
        let consumer = self.consumer(&[("group.id", group), ("auto.offset.reset", "earliest")])?;
        consumer.subscribe(&[topic])?;
        let received = poll(&consumer, count, PATIENCE)?;
        if !received.is_empty() {
            consumer.commit_consumer_state(CommitMode::Sync)?;
        }
        Ok(received)
    }

    pub fn watermarks(&self, topic: &str, partition: i32) -> Answer<(i64, i64)> {
        Ok(self.consumer(&[])?.fetch_watermarks(topic, partition, PATIENCE)?)
    }

    pub fn offset_for_time(&self, topic: &str, timestamp_ms: i64) -> Answer<Option<i64>> {
        let asked = one_partition(topic, 0, Offset::Offset(timestamp_ms))?;
        let found = self.consumer(&[])?.offsets_for_times(asked, PATIENCE)?;
        let [place] = &found.elements()[..] else {
            return Err(Refusal::new("not one partition"));
        };
        place.error()?;
        Ok(match place.offset() {
            Offset::Offset(offset) => Some(offset),
            _ => None, // librdkafka says "end" where there is no such record
        })
    }

    fn consumer(&self, configs: &[(&str, &str)]) -> Answer<BaseConsumer> {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", &self.bootstrap)
            // librdkafka wants a name even from those who never join.
            .set("group.id", "nobody")
            .set("enable.auto.commit", "false")
            .set("fetch.message.max.bytes", LARGE_BYTES)
            .set("check.crcs", "true")
            .set("auto.offset.reset", "error");
        for (name, value) in configs {
            config.set(*name, *value);
        }
        Ok(config.create()?)
    }
}

/// A list of one partition.
pub fn one_partition(topic: &str, partition: i32, offset: Offset) -> Answer<TopicPartitionList> {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, partition, offset)?;
    Ok(list)
}

fn poll(consumer: &BaseConsumer, count: usize, wait: Duration) -> Answer<Vec<Received>> {
    let deadline = Instant::now() + wait;
    let mut received = Vec::new();
    while received.len() < count && Instant::now() < deadline {
        if let Some(message) = consumer.poll(Duration::from_millis(200)) {
            received.push(as_received(&message?));
        }
    }
    Ok(received)
}

fn as_received(message: &BorrowedMessage<'_>) -> Received {
    let bytes = |data: Option<&[u8]>| data.map(|data| Bytes(data.to_vec()));
    let (timestamp_type, timestamp_ms) = match message.timestamp() {
        Timestamp::NotAvailable => (None, -1),
        Timestamp::CreateTime(time_ms) => (Some(0), time_ms),
        Timestamp::LogAppendTime(time_ms) => (Some(1), time_ms),
    };
    let headers = message.headers().map_or_else(Vec::new, |headers| {
        headers.iter().map(|header| (header.key.to_owned(), bytes(header.value))).collect()
    });
    Received {
        offset: message.offset(),
        value: bytes(message.payload()),
        key: bytes(message.key()),
        headers,
        timestamp_ms,
        timestamp_type,
        partition: message.partition(),
    }
}
