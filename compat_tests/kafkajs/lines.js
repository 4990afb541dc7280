// Records between JSON and kafkajs: bytes are base64, null is null.
"use strict";

const PATIENCE_MS = 20000;
const LARGE_BYTES = 12000000;

function bytes(text) {
  return text === null ? null : Buffer.from(text, "base64");
}

function text(data) {
  return data === null || data === undefined ? null : Buffer.from(data).toString("base64");
}

// Headers are an object: a name that comes twice has a list of values.
function sent(record) {
  const headers = {};
  for (const [name, value] of record.headers) {
    if (name in headers) headers[name] = [headers[name], bytes(value)].flat();
    else headers[name] = bytes(value);
  }
  const timestamp = record.timestamp_ms === null ? undefined : String(record.timestamp_ms);
  const { partition } = record;
  return { key: bytes(record.key), value: bytes(record.value), headers, timestamp, partition };
}

// kafkajs does not tell which kind of timestamp a record has.
function received(message, partition) {
  const headers = Object.entries(message.headers ?? {}).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, text(value)]),
  );
  return {
    offset: Number(message.offset),
    value: text(message.value),
    key: text(message.key),
    headers,
    timestamp_ms: Number(message.timestamp),
    timestamp_type: null,
    partition,
  };
}

module.exports = { received, sent, PATIENCE_MS, LARGE_BYTES };
