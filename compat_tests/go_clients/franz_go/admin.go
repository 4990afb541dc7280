package main

import (
	"context"
	"fmt"

	"kbroker/compat_tests/go_clients/lines"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A client for one question to the admin half.
func (p *program) admin(ask func(context.Context, *kadm.Client) (any, error)) (any, error) {
	client := kadm.NewClient(p.client())
	defer client.Close()
	ctx, cancel := patience()
	defer cancel()
	return ask(ctx, client)
}

func (p *program) watermarks(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		first, err := client.ListStartOffsets(ctx, question.Topic)
		if err != nil {
			return nil, err
		}
		next, err := client.ListEndOffsets(ctx, question.Topic)
		if err != nil {
			return nil, err
		}
		begin, _ := first.Lookup(question.Topic, question.Partition)
		end, _ := next.Lookup(question.Topic, question.Partition)
		return []int64{begin.Offset, end.Offset}, end.Err
	})
}

func (p *program) offsetForTime(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		listed, err := client.ListOffsetsAfterMilli(ctx, question.TimestampMs, question.Topic)
		if err != nil {
			return nil, err
		}
		found, _ := listed.Lookup(question.Topic, 0)
		if found.Err == nil && found.Timestamp == -1 {
			return nil, nil // kadm gives the end where there is no such record
		}
		return found.Offset, found.Err
	})
}

// A transaction takes the offset of a group that has no members: franz-go offers that for its own
// group sessions only, so the two requests are made by hand.
func sendOffset(ctx context.Context, producer transactional, question lines.Question) error {
	id, epoch, err := producer.ProducerID(ctx)
	if err != nil {
		return err
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID = producer.id
	add.ProducerID, add.ProducerEpoch, add.Group = id, epoch, question.Group
	added, err := add.RequestWith(ctx, producer.Client)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(added.ErrorCode); err != nil {
		return err
	}
	// From version 6 on (Kafka 4.4) a topic is its id.
	listed, err := kadm.NewClient(producer.Client).ListTopics(ctx, question.Topic)
	if err != nil {
		return err
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID = producer.id
	commit.ProducerID, commit.ProducerEpoch, commit.Group = id, epoch, question.Group
	partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	partition.Offset = question.Offset
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic = question.Topic
	topic.TopicID = listed[question.Topic].ID
	topic.Partitions = append(topic.Partitions, partition)
	commit.Topics = append(commit.Topics, topic)
	committed, err := commit.RequestWith(ctx, producer.Client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(committed.Topics[0].Partitions[0].ErrorCode)
}

func (p *program) createTopic(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		configs := map[string]*string{}
		for name, value := range question.Configs {
			configs[name] = kadm.StringPtr(value)
		}
		_, err := client.CreateTopic(ctx, question.Partitions, 1, configs, question.Topic)
		return nil, err
	})
}

func (p *program) deleteTopic(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		_, err := client.DeleteTopic(ctx, question.Topic)
		return nil, err
	})
}

func (p *program) topics(lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		listed, err := client.ListTopics(ctx)
		return listed.Names(), err
	})
}

func (p *program) leaders(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		listed, err := client.ListTopics(ctx, question.Topic)
		if err != nil {
			return nil, err
		}
		leaders := map[int32]int32{}
		for number, partition := range listed[question.Topic].Partitions {
			leaders[number] = partition.Leader
		}
		return leaders, listed[question.Topic].Err
	})
}

func (p *program) createPartitions(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		answers, err := client.UpdatePartitions(ctx, int(question.Total), question.Topic)
		if err != nil {
			return nil, err
		}
		return nil, answers.Error()
	})
}

func (p *program) topicConfigs(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		described, err := client.DescribeTopicConfigs(ctx, question.Topic)
		if err != nil {
			return nil, err
		}
		configs := map[string]*string{}
		for _, config := range described[0].Configs {
			configs[config.Key] = config.Value
		}
		return configs, described[0].Err
	})
}

func (p *program) alterTopicConfig(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		change := kadm.AlterConfig{Op: kadm.SetConfig, Name: question.Name, Value: &question.Value}
		answers, err := client.AlterTopicConfigs(ctx, []kadm.AlterConfig{change}, question.Topic)
		if err != nil {
			return nil, err
		}
		return nil, answers[0].Err
	})
}

func (p *program) deleteRecords(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		before := kadm.Offsets{}
		before.AddOffset(question.Topic, 0, question.BeforeOffset, -1)
		answers, err := client.DeleteRecords(ctx, before)
		if err != nil {
			return nil, err
		}
		deleted, _ := answers.Lookup(question.Topic, 0)
		return deleted.LowWatermark, deleted.Err
	})
}

func (p *program) cluster(lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		described, err := client.BrokerMetadata(ctx)
		return []any{described.Cluster, described.Controller, described.Brokers.NodeIDs()}, err
	})
}

func (p *program) groups(lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		listed, err := client.ListGroups(ctx)
		return listed.Groups(), err
	})
}

func (p *program) groupOffsets(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		fetched, err := client.FetchOffsets(ctx, question.Group)
		if err != nil {
			return nil, err
		}
		offsets := map[int32]int64{}
		for number, offset := range fetched[question.Topic] {
			offsets[number] = offset.At
		}
		return offsets, fetched.Error()
	})
}

func (p *program) deleteGroup(question lines.Question) (any, error) {
	return p.admin(func(ctx context.Context, client *kadm.Client) (any, error) {
		answer, err := client.DeleteGroup(ctx, question.Group)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, answer.Group)
		}
		return nil, answer.Err
	})
}
