package main

import (
	"context"

	"kbroker/compat_tests/go_clients/lines"

	"github.com/segmentio/kafka-go"
)

func (p *program) listed(topic string, wanted kafka.OffsetRequest) (kafka.PartitionOffsets, error) {
	answer, err := p.client.ListOffsets(context.Background(), &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{topic: {wanted}},
	})
	if err != nil {
		return kafka.PartitionOffsets{}, err
	}
	found := answer.Topics[topic][0]
	return found, found.Error
}

func (p *program) watermarks(question lines.Question) (any, error) {
	first, err := p.listed(question.Topic, kafka.FirstOffsetOf(int(question.Partition)))
	if err != nil {
		return nil, err
	}
	next, err := p.listed(question.Topic, kafka.LastOffsetOf(int(question.Partition)))
	return []int64{first.FirstOffset, next.LastOffset}, err
}

func (p *program) offsetForTime(question lines.Question) (any, error) {
	at := lines.Sent{TimestampMs: &question.TimestampMs}.Time()
	found, err := p.listed(question.Topic, kafka.TimeOffsetOf(0, at))
	if err != nil {
		return nil, err
	}
	for offset := range found.Offsets {
		if offset >= 0 {
			return offset, nil
		}
	}
	return nil, nil
}

func (p *program) createTopic(question lines.Question) (any, error) {
	wanted := kafka.TopicConfig{
		Topic: question.Topic, NumPartitions: int(question.Partitions), ReplicationFactor: 1,
	}
	for name, value := range question.Configs {
		entry := kafka.ConfigEntry{ConfigName: name, ConfigValue: value}
		wanted.ConfigEntries = append(wanted.ConfigEntries, entry)
	}
	answer, err := p.client.CreateTopics(
		context.Background(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{wanted}})
	if err != nil {
		return nil, err
	}
	return nil, answer.Errors[question.Topic]
}

func (p *program) deleteTopic(question lines.Question) (any, error) {
	answer, err := p.client.DeleteTopics(
		context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{question.Topic}})
	if err != nil {
		return nil, err
	}
	return nil, answer.Errors[question.Topic]
}

func (p *program) topics(lines.Question) (any, error) {
	metadata, err := p.client.Metadata(context.Background(), &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, topic := range metadata.Topics {
		names = append(names, topic.Name)
	}
	return names, nil
}

func (p *program) leaders(question lines.Question) (any, error) {
	metadata, err := p.client.Metadata(
		context.Background(), &kafka.MetadataRequest{Topics: []string{question.Topic}})
	if err != nil {
		return nil, err
	}
	leaders := map[int]int{}
	for _, partition := range metadata.Topics[0].Partitions {
		leaders[partition.ID] = partition.Leader.ID
	}
	return leaders, metadata.Topics[0].Error
}

func (p *program) createPartitions(question lines.Question) (any, error) {
	wanted := kafka.TopicPartitionsConfig{Name: question.Topic, Count: question.Total}
	answer, err := p.client.CreatePartitions(context.Background(),
		&kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{wanted}})
	if err != nil {
		return nil, err
	}
	return nil, answer.Errors[question.Topic]
}

func (p *program) topicConfigs(question lines.Question) (any, error) {
	resource := kafka.DescribeConfigRequestResource{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: question.Topic,
	}
	answer, err := p.client.DescribeConfigs(context.Background(), &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{resource},
	})
	if err != nil {
		return nil, err
	}
	configs := map[string]string{}
	for _, entry := range answer.Resources[0].ConfigEntries {
		configs[entry.ConfigName] = entry.ConfigValue
	}
	return configs, answer.Resources[0].Error
}

func (p *program) alterTopicConfig(question lines.Question) (any, error) {
	entry := kafka.IncrementalAlterConfigsRequestConfig{
		Name: question.Name, Value: question.Value, ConfigOperation: kafka.ConfigOperationSet,
	}
	resource := kafka.IncrementalAlterConfigsRequestResource{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: question.Topic,
		Configs: []kafka.IncrementalAlterConfigsRequestConfig{entry},
	}
	answer, err := p.client.IncrementalAlterConfigs(context.Background(),
		&kafka.IncrementalAlterConfigsRequest{
			Resources: []kafka.IncrementalAlterConfigsRequestResource{resource},
		})
	if err != nil {
		return nil, err
	}
	return nil, answer.Resources[0].Error
}

func (p *program) cluster(lines.Question) (any, error) {
	metadata, err := p.client.Metadata(context.Background(), &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	ids := []int{}
	for _, broker := range metadata.Brokers {
		ids = append(ids, broker.ID)
	}
	return []any{metadata.ClusterID, metadata.Controller.ID, ids}, nil
}

func (p *program) groups(lines.Question) (any, error) {
	listed, err := p.client.ListGroups(context.Background(), &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, group := range listed.Groups {
		names = append(names, group.GroupID)
	}
	return names, listed.Error
}

// kafka-go wants to be told the partitions.
func (p *program) groupOffsets(question lines.Question) (any, error) {
	fetched, err := p.client.OffsetFetch(context.Background(), &kafka.OffsetFetchRequest{
		GroupID: question.Group, Topics: map[string][]int{question.Topic: {0}},
	})
	if err != nil {
		return nil, err
	}
	offsets := map[int]int64{}
	for _, partition := range fetched.Topics[question.Topic] {
		offsets[partition.Partition] = partition.CommittedOffset
	}
	return offsets, fetched.Error
}

func (p *program) deleteGroup(question lines.Question) (any, error) {
	answer, err := p.client.DeleteGroups(
		context.Background(), &kafka.DeleteGroupsRequest{GroupIDs: []string{question.Group}})
	if err != nil {
		return nil, err
	}
	return nil, answer.Errors[question.Group]
}
