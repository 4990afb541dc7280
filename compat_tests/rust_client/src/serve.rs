//! One JSON object per line in, one per line out.

use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde_json::{json, Value};

use crate::administration::Administration;
use crate::lines::{Answer, Question, Refusal};
use crate::records::Records;
use crate::transactions::Transactions;

struct Program {
    records: Records,
    transactions: Transactions,
    administration: Administration,
}

/// Answers until there are no more questions.
pub fn serve(bootstrap: &str) {
    let mut program = Program {
        records: Records::new(bootstrap),
        transactions: Transactions::new(bootstrap),
        administration: Administration::new(bootstrap).expect("an admin client"),
    };
    for line in io::stdin().lock().lines() {
        let line = line.expect("lines of UTF-8");
        let answer = match serde_json::from_str(&line) {
            Ok(question) => program.answer(question),
            Err(error) => Err(Refusal::new(format!("not understood: {error}"))),
        };
        let told = match answer {
            Ok(value) => json!({ "ok": value }),
            Err(refusal) => json!({ "error": refusal.words, "code": refusal.code }),
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{told}").and_then(|()| out.flush()).expect("somebody listens");
    }
}

/// An answer as JSON.
fn told<T: Serialize>(answer: Answer<T>) -> Answer<Value> {
    answer.and_then(|value| {
        serde_json::to_value(value).map_err(|error| Refusal::new(error.to_string()))
    })
}

impl Program {
    fn answer(&mut self, question: Question) -> Answer<Value> {
        match question {
            Question::Produce { topic, records, acks, compression, idempotent } => {
                told(self.records.produce(&topic, &records, &acks, &compression, idempotent))
            }
            Question::Consume { topic, count, start, partition, isolation, wait_s } => {
                told(self.records.consume(&topic, partition, start, count, &isolation, wait_s))
            }
            Question::ConsumeInGroup { group, topic, count } => {
                told(self.records.consume_in_group(&group, &topic, count))
            }
            Question::Watermarks { topic, partition } => {
                told(self.records.watermarks(&topic, partition))
            }
            Question::OffsetForTime { topic, timestamp_ms } => {
                told(self.records.offset_for_time(&topic, timestamp_ms))
            }
            Question::Begin { producer, transactional_id, topic, records } => {
                told(self.transactions.begin(producer, &transactional_id, &topic, &records))
            }
            Question::End { producer, commit, group, topic, offset } => {
                let position = group.zip(topic).zip(offset);
                told(self.transactions.end(&producer, commit, position))
            }
            other => self.administer(other),
        }
    }

    fn administer(&mut self, question: Question) -> Answer<Value> {
        let admin = &self.administration;
        match question {
            Question::CreateTopic { topic, partitions, configs } => {
                told(admin.create_topic(&topic, partitions, &configs))
            }
            Question::DeleteTopic { topic } => told(admin.delete_topic(&topic)),
            Question::Topics => told(admin.topics()),
            Question::Leaders { topic } => told(admin.leaders(&topic)),
            Question::CreatePartitions { topic, total } => {
                told(admin.create_partitions(&topic, total))
            }
            Question::TopicConfigs { topic } => told(admin.topic_configs(&topic)),
            Question::AlterTopicConfig { topic, name, value } => {
                told(admin.alter_topic_config(&topic, &name, &value))
            }
            Question::DeleteRecords { topic, before_offset } => {
                told(admin.delete_records(&topic, before_offset))
            }
            Question::Cluster => told(admin.cluster()),
            Question::Groups => told(admin.groups()),
            Question::GroupOffsets { group, topic } => told(admin.group_offsets(&group, &topic)),
            Question::DeleteGroup { group } => told(admin.delete_group(&group)),
            _ => Err(Refusal::new("no question of administration")),
        }
    }
}
