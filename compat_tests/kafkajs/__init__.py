"""kafkajs, the client of programs on Node.js: a member of a group."""
