// A member of a group on kafkajs, which tells what it does, one JSON object per line, in the words
// of Kafka's VerifiableConsumer (see compat_tests/member_events.py).
"use strict";

const { parseArgs } = require("node:util");
const { Kafka, logLevel } = require("kafkajs");

const text = { type: "string" };
const { values: options } = parseArgs({
  options: { bootstrap: text, group: text, topic: text, kind: text, "session-timeout-ms": text },
});

function tell(name, fields) {
  process.stdout.write(JSON.stringify({ timestamp: Date.now(), name, ...fields }) + "\n");
}

function tellPartitions(name, numbers) {
  const partitions = numbers.map((partition) => ({ topic: options.topic, partition }));
  tell(name, { partitions });
}

async function readBatch({ batch, resolveOffset, commitOffsetsIfNecessary, isRunning, isStale }) {
  if (!isRunning() || isStale() || batch.messages.length === 0) return;
  const { topic, partition } = batch;
  const minOffset = Number(batch.firstOffset());
  const maxOffset = Number(batch.lastOffset());
  const count = batch.messages.length;
  tell("records_consumed", { count, partitions: [{ topic, partition, count, minOffset, maxOffset }] });
  resolveOffset(batch.lastOffset());
  const offset = String(maxOffset + 1);
  await commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset }] }] });
  tell("offsets_committed", { offsets: [{ topic, partition, offset: maxOffset + 1 }], success: true });
}

async function main() {
  const kafka = new Kafka({ brokers: [options.bootstrap], logLevel: logLevel.WARN });
  const consumer = kafka.consumer({
    groupId: options.group,
    sessionTimeout: Number(options["session-timeout-ms"]),
    heartbeatInterval: 500,
    maxWaitTimeInMs: 200,
  });
  let owned = [];
  function revoke() {
    if (owned.length > 0) tellPartitions("partitions_revoked", owned);
    owned = [];
  }
  // kafkajs has no word for partitions that go: they go when a rebalance begins.
  consumer.on(consumer.events.REBALANCING, revoke);
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    revoke();
    owned = payload.memberAssignment[options.topic] ?? [];
    tellPartitions("partitions_assigned", owned);
  });
  process.on("SIGTERM", async () => {
    await consumer.stop();
    revoke();
    await consumer.disconnect();
    process.exit(0);
  });
  await consumer.connect();
  await consumer.subscribe({ topic: options.topic, fromBeginning: true });
  await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: readBatch });
}

main();
