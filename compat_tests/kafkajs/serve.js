// kafkajs as a client program: one JSON object per line in, one per line out (see
// compat_tests/program.py).
"use strict";

const readline = require("node:readline");
const { CompressionTypes, Kafka, logLevel } = require("kafkajs");
const { received, sent, PATIENCE_MS, LARGE_BYTES } = require("./lines.js");
const { administration } = require("./administration.js");

const kafka = new Kafka({
  brokers: [process.argv[2]],
  logLevel: logLevel.NOTHING,
  // What a scenario expects to be refused must not be tried for half a minute.
  retry: { retries: 5 },
});
const admin = kafka.admin();
const producers = new Map();
let readers = 0;

async function sendAll(producer, { topic, records }, options) {
  const messages = records.map(sent);
  const answers = await producer.send({ topic, messages, ...options });
  // One answer for each partition, with the offset of its first record.
  const next = new Map(answers.map((each) => [each.partition, Number(each.baseOffset ?? -1)]));
  return records.map(({ partition }) => {
    const offset = next.get(partition);
    next.set(partition, offset + 1);
    return offset;
  });
}

async function produce(question) {
  const codec = { none: "None", gzip: "GZIP" }[question.compression];
  const producer = kafka.producer({
    allowAutoTopicCreation: true,
    idempotent: question.idempotent,
  });
  await producer.connect();
  try {
    const acks = question.acks === "all" ? -1 : Number(question.acks);
    return await sendAll(producer, question, { acks, compression: CompressionTypes[codec] });
  } finally {
    await producer.disconnect();
  }
}

// kafkajs reads as a member of a group only: one that nobody else is in.
async function consume(question) {
  const { topic, partition, start, count, isolation, wait_s: waitS } = question;
  const consumer = kafka.consumer({
    groupId: `kafkajs-${process.pid}-${(readers += 1)}`,
    readUncommitted: isolation === "read_uncommitted",
    maxBytesPerPartition: LARGE_BYTES,
    maxWaitTimeInMs: 500,
  });
  const found = [];
  await run(consumer, topic, start !== "end", waitS * 1000, (message, from) => {
    if (from === partition) found.push(received(message, from));
    return found.length >= count;
  }, () => {
    if (typeof start === "number") consumer.seek({ topic, partition, offset: String(start) });
  });
  return found.slice(0, count);
}

async function consumeInGroup({ group, topic, count }) {
  const consumer = kafka.consumer({ groupId: group });
  const found = [];
  await run(consumer, topic, true, PATIENCE_MS, (message, partition) => {
    found.push(received(message, partition));
    return found.length >= count;
  });
  return found;
}

// Reads until `take` is content or the time is over; commits what was read, and leaves.
async function run(consumer, topic, fromBeginning, waitMs, take, begun = () => {}) {
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning });
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  let content = false;
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ message, partition }) => {
      if (content) return;
      content = take(message, partition);
      const offset = String(Number(message.offset) + 1);
      await consumer.commitOffsets([{ topic, partition, offset }]);
      if (content) finish();
    },
  });
  begun();
  const timer = setTimeout(finish, waitMs);
  await finished;
  clearTimeout(timer);
  await consumer.disconnect();
}

async function begin(question) {
  const producer = kafka.producer({
    transactionalId: question.transactional_id,
    idempotent: true,
    maxInFlightRequests: 1,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  producers.set(question.producer, { producer, transaction });
  await sendAll(transaction, question, { acks: -1 });
  return null;
}

async function end({ producer: name, commit, group, topic, offset }) {
  const { producer, transaction } = producers.get(name);
  producers.delete(name);
  try {
    if (group !== null) {
      const partitions = [{ partition: 0, offset: String(offset) }];
      await transaction.sendOffsets({ consumerGroupId: group, topics: [{ topic, partitions }] });
    }
    if (commit) await transaction.commit();
    else await transaction.abort();
    return null;
  } finally {
    await producer.disconnect();
  }
}

const verbs = {
  produce,
  consume,
  consume_in_group: consumeInGroup,
  begin,
  end,
  ...administration(admin),
};

async function answer(question) {
  try {
    if (!(question.verb in verbs)) throw new Error(`this client has no ${question.verb}`);
    return { ok: (await verbs[question.verb](question)) ?? null };
  } catch (error) {
    const cause = error.cause?.code ? error.cause : error.errors?.[0] ?? error;
    return { error: `${cause.name}: ${cause.message}`, code: cause.code ?? null };
  }
}

async function main() {
  await admin.connect();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
  }
  await admin.disconnect();
  process.exit(0);
}

main();
