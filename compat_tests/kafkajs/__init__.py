"""kafkajs, the client of programs on Node.js."""

VERSION = "2.2.4"
