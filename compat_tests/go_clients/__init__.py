"""Clients written in Go: franz-go, Sarama and segmentio's kafka-go, a program each."""

FRANZ_GO = "1.22.2"
SARAMA = "1.61.1"
KAFKA_GO = "0.4.51"
