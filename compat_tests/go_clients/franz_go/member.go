package main

import (
	"context"
	"errors"
	"log"
	"os/signal"
	"syscall"
	"time"

	"kbroker/compat_tests/go_clients/events"

	"github.com/twmb/franz-go/pkg/kgo"
)

func runMember() {
	options := events.Parse()
	stopping, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	client, err := kgo.NewClient(configs(options)...)
	if err != nil {
		log.Fatal(err)
	}
	for stopping.Err() == nil {
		step(stopping, client, options.Topic)
	}
	// Close revokes and leaves; a static member only says that it is away.
	client.CloseAllowingRebalance()
}

func configs(options events.Options) []kgo.Opt {
	told := func(tell func(string, []int32)) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			tell(options.Topic, partitions[options.Topic])
		}
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(options.Bootstrap),
		kgo.ConsumerGroup(options.Group),
		kgo.ConsumeTopics(options.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		// Partitions go only between two polls, when everything is committed.
		kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(options.SessionTimeout),
		kgo.HeartbeatInterval(500 * time.Millisecond),
		kgo.OnPartitionsAssigned(told(events.Assigned)),
		kgo.OnPartitionsRevoked(told(events.Revoked)),
		kgo.OnPartitionsLost(told(events.Revoked)),
	}
	switch options.Kind {
	case "eager":
		opts = append(opts, kgo.Balancers(kgo.RangeBalancer()))
	case "cooperative":
		opts = append(opts, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	case "consumer":
		// The sticky balancer stands for the coordinator's uniform one.
		opts = append(opts, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	}
	if options.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(options.InstanceID))
	}
	return opts
}

func step(stopping context.Context, client *kgo.Client, topic string) {
	defer client.AllowRebalance()
	fetches := client.PollFetches(stopping)
	fetches.EachError(func(_ string, _ int32, err error) {
		if !errors.Is(err, context.Canceled) {
			log.Fatal(err)
		}
	})
	fetches.EachPartition(func(fetched kgo.FetchTopicPartition) {
		if count := len(fetched.Records); count > 0 {
			first, last := fetched.Records[0], fetched.Records[count-1]
			events.Consumed(topic, fetched.Partition, first.Offset, last.Offset, int64(count))
			if err := client.CommitRecords(context.Background(), last); err != nil {
				log.Fatal(err)
			}
			events.Committed(topic, fetched.Partition, last.Offset+1)
		}
	})
}
