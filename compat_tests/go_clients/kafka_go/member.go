package main

import (
	"context"
	"errors"
	"log"
	"os/signal"
	"syscall"
	"time"

	"kbroker/compat_tests/go_clients/events"

	"github.com/segmentio/kafka-go"
)

func runMember() {
	options := events.Parse()
	stopping, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: options.Group, Brokers: []string{options.Bootstrap}, Topics: []string{options.Topic},
		GroupBalancers:    []kafka.GroupBalancer{kafka.RangeGroupBalancer{}},
		StartOffset:       kafka.FirstOffset,
		SessionTimeout:    options.SessionTimeout,
		HeartbeatInterval: 500 * time.Millisecond,
		JoinGroupBackoff:  500 * time.Millisecond,
	})
	if err != nil {
		log.Fatal(err)
	}
	for {
		generation, err := group.Next(stopping)
		if stopping.Err() != nil {
			break
		}
		if err != nil {
			log.Print(err) // the next generation may be luckier, as in kafka-go's own reader
			continue
		}
		begin(generation, options)
	}
	if err := group.Close(); err != nil {
		log.Fatal(err)
	}
}

// A generation lives until one of its functions returns; then all others are told to.
func begin(generation *kafka.Generation, options events.Options) {
	numbers := []int32{}
	for _, assigned := range generation.Assignments[options.Topic] {
		numbers = append(numbers, int32(assigned.ID))
	}
	events.Assigned(options.Topic, numbers)
	for _, assigned := range generation.Assignments[options.Topic] {
		generation.Start(func(ctx context.Context) {
			readPartition(ctx, generation, options, assigned)
			// Told partition by partition: what another one still reads is not gone.
			events.Revoked(options.Topic, []int32{int32(assigned.ID)})
		})
	}
}

func readPartition(
	ctx context.Context, generation *kafka.Generation, options events.Options,
	assigned kafka.PartitionAssignment,
) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{options.Bootstrap}, Topic: options.Topic, Partition: assigned.ID,
		MaxWait: 100 * time.Millisecond,
	})
	defer reader.Close()
	if err := reader.SetOffset(assigned.Offset); err != nil {
		log.Fatal(err)
	}
	for {
		message, err := reader.FetchMessage(ctx)
		if errors.Is(err, kafka.ErrGenerationEnded) || ctx.Err() != nil {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		number := int32(assigned.ID)
		events.Consumed(options.Topic, number, message.Offset, message.Offset, 1)
		next := map[string]map[int]int64{options.Topic: {assigned.ID: message.Offset + 1}}
		if err := generation.CommitOffsets(next); err != nil {
			log.Fatal(err)
		}
		events.Committed(options.Topic, number, message.Offset+1)
	}
}
