"""kafka-console (`kcli`), a command-line tool on @platformatic/kafka, a client for Node.js."""

VERSION = "3.1.55"
CLIENT_VERSION = "1.35.0"
