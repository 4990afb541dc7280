package main

import (
	"context"
	"log"
	"os/signal"
	"syscall"
	"time"

	"kbroker/compat_tests/go_clients/events"

	"github.com/IBM/sarama"
)

func runMember() {
	options := events.Parse()
	stopping, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	group, err := sarama.NewConsumerGroup([]string{options.Bootstrap}, options.Group, config(options))
	if err != nil {
		log.Fatal(err)
	}
	for stopping.Err() == nil {
		if err := group.Consume(stopping, []string{options.Topic}, member{options.Topic}); err != nil {
			log.Fatal(err)
		}
	}
	if err := group.Close(); err != nil {
		log.Fatal(err)
	}
}

func config(options events.Options) *sarama.Config {
	config := sarama.NewConfig()
	// Sarama does not ask which versions a broker has: it takes those of the release it is told.
	config.Version = sarama.V4_3_1_0
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	// Commits share a connection with fetches, and wait behind them.
	config.Consumer.MaxWaitTime = 20 * time.Millisecond
	config.Consumer.Group.Session.Timeout = options.SessionTimeout
	config.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	config.Consumer.Group.InstanceId = options.InstanceID
	if options.Kind == "sticky" {
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{
			sarama.NewBalanceStrategySticky(),
		}
	}
	return config
}

// A session is one generation: Setup begins it, Cleanup ends it, in between each partition is
// read by a call of ConsumeClaim.
type member struct{ topic string }

func (m member) Setup(session sarama.ConsumerGroupSession) error {
	events.Assigned(m.topic, session.Claims()[m.topic])
	return nil
}

func (m member) Cleanup(session sarama.ConsumerGroupSession) error {
	events.Revoked(m.topic, session.Claims()[m.topic])
	return nil
}

func (m member) ConsumeClaim(
	session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim,
) error {
	for {
		select {
		case <-session.Context().Done():
			return nil
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			events.Consumed(m.topic, message.Partition, message.Offset, message.Offset, 1)
			session.MarkMessage(message, "")
			session.Commit()
			events.Committed(m.topic, message.Partition, message.Offset+1)
		}
	}
}
