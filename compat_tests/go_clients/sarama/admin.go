package main

import (
	"context"

	"kbroker/compat_tests/go_clients/lines"

	"github.com/IBM/sarama"
)

// A member that reads what it is asked for, commits and goes.
type reader struct {
	count int
	found chan lines.Received
}

func (reader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (reader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (r reader) ConsumeClaim(
	session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim,
) error {
	for read := 0; read < r.count; read++ {
		select {
		case <-session.Context().Done():
			return nil
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			r.found <- received(message)
			session.MarkMessage(message, "")
		}
	}
	session.Commit()
	return nil
}

func (p *program) consumeInGroup(question lines.Question) (any, error) {
	config := plain()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	group, err := sarama.NewConsumerGroup(p.brokers, question.Group, config)
	if err != nil {
		return nil, err
	}
	defer group.Close()
	ctx, cancel := context.WithTimeout(context.Background(), lines.Patience)
	defer cancel()
	member := reader{question.Count, make(chan lines.Received, question.Count)}
	if err := group.Consume(ctx, []string{question.Topic}, member); err != nil {
		return nil, err
	}
	close(member.found)
	found := []lines.Received{}
	for each := range member.found {
		found = append(found, each)
	}
	return found, nil
}

// A client for one question to the admin half.
func (p *program) ask(
	question func(sarama.ClusterAdmin, sarama.Client) (any, error),
) (any, error) {
	client, err := sarama.NewClient(p.brokers, plain())
	if err != nil {
		return nil, err
	}
	admin, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	return question(admin, client)
}

func (p *program) watermarks(question lines.Question) (any, error) {
	return p.ask(func(_ sarama.ClusterAdmin, client sarama.Client) (any, error) {
		first, err := client.GetOffset(question.Topic, question.Partition, sarama.OffsetOldest)
		if err != nil {
			return nil, err
		}
		next, err := client.GetOffset(question.Topic, question.Partition, sarama.OffsetNewest)
		return []int64{first, next}, err
	})
}

func (p *program) offsetForTime(question lines.Question) (any, error) {
	return p.ask(func(_ sarama.ClusterAdmin, client sarama.Client) (any, error) {
		offset, err := client.GetOffset(question.Topic, 0, question.TimestampMs)
		if err != nil || offset < 0 {
			return nil, err
		}
		return offset, nil
	})
}

func (p *program) createTopic(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		configs := map[string]*string{}
		for name, value := range question.Configs {
			configs[name] = &value
		}
		detail := &sarama.TopicDetail{
			NumPartitions: question.Partitions, ReplicationFactor: 1, ConfigEntries: configs,
		}
		return nil, admin.CreateTopic(question.Topic, detail, false)
	})
}

func (p *program) deleteTopic(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		return nil, admin.DeleteTopic(question.Topic)
	})
}

func (p *program) topics(lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		listed, err := admin.ListTopics()
		names := []string{}
		for name := range listed {
			names = append(names, name)
		}
		return names, err
	})
}

func (p *program) leaders(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		described, err := admin.DescribeTopics([]string{question.Topic})
		if err != nil {
			return nil, err
		}
		if described[0].Err != sarama.ErrNoError {
			return nil, described[0].Err
		}
		leaders := map[int32]int32{}
		for _, partition := range described[0].Partitions {
			leaders[partition.ID] = partition.Leader
		}
		return leaders, nil
	})
}

func (p *program) createPartitions(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		return nil, admin.CreatePartitions(question.Topic, question.Total, nil, false)
	})
}

func (p *program) topicConfigs(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		resource := sarama.ConfigResource{Type: sarama.TopicResource, Name: question.Topic}
		entries, err := admin.DescribeConfig(resource)
		configs := map[string]string{}
		for _, entry := range entries {
			configs[entry.Name] = entry.Value
		}
		return configs, err
	})
}

func (p *program) alterTopicConfig(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		entry := sarama.IncrementalAlterConfigsEntry{
			Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &question.Value,
		}
		entries := map[string]sarama.IncrementalAlterConfigsEntry{question.Name: entry}
		return nil, admin.IncrementalAlterConfig(
			sarama.TopicResource, question.Topic, entries, false)
	})
}

// Sarama does not tell the new first offset, so it is asked for.
func (p *program) deleteRecords(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, client sarama.Client) (any, error) {
		before := map[int32]int64{0: question.BeforeOffset}
		if err := admin.DeleteRecords(question.Topic, before); err != nil {
			return nil, err
		}
		return client.GetOffset(question.Topic, 0, sarama.OffsetOldest)
	})
}

// The admin client does not tell the cluster's id; a metadata request does.
func (p *program) cluster(lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, client sarama.Client) (any, error) {
		brokers, controller, err := admin.DescribeCluster()
		if err != nil {
			return nil, err
		}
		ids := []int32{}
		for _, broker := range brokers {
			ids = append(ids, broker.ID())
		}
		asked, err := client.Controller()
		if err != nil {
			return nil, err
		}
		metadata, err := asked.GetMetadata(sarama.NewMetadataRequest(plain().Version, nil))
		if err != nil {
			return nil, err
		}
		return []any{*metadata.ClusterID, controller, ids}, nil
	})
}

func (p *program) groups(lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		listed, err := admin.ListConsumerGroups()
		names := []string{}
		for name := range listed {
			names = append(names, name)
		}
		return names, err
	})
}

func (p *program) groupOffsets(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		fetched, err := admin.ListConsumerGroupOffsets(question.Group, nil)
		if err != nil {
			return nil, err
		}
		offsets := map[int32]int64{}
		for number, block := range fetched.Blocks[question.Topic] {
			offsets[number] = block.Offset
		}
		return offsets, nil
	})
}

func (p *program) deleteGroup(question lines.Question) (any, error) {
	return p.ask(func(admin sarama.ClusterAdmin, _ sarama.Client) (any, error) {
		return nil, admin.DeleteConsumerGroup(question.Group)
	})
}
