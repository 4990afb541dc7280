// Sarama as a client program: `serve BOOTSTRAP` goes through scenarios, `member ...` joins a group.
package main

import (
	"errors"
	"os"
	"time"

	"kbroker/compat_tests/go_clients/lines"

	"github.com/IBM/sarama"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		lines.Serve(newProgram(os.Args[2]).verbs(), code)
		return
	}
	os.Args = append(os.Args[:1], os.Args[2:]...)
	runMember()
}

func code(err error) (int, bool) {
	var known sarama.KError
	if errors.As(err, &known) {
		return int(known), true
	}
	return 0, false
}

type program struct {
	brokers   []string
	producers map[string]sarama.SyncProducer
}

func newProgram(bootstrap string) *program {
	return &program{[]string{bootstrap}, map[string]sarama.SyncProducer{}}
}

func (p *program) verbs() lines.Verbs {
	return lines.Verbs{
		"produce":            p.produce,
		"consume":            p.consume,
		"consume_in_group":   p.consumeInGroup,
		"watermarks":         p.watermarks,
		"offset_for_time":    p.offsetForTime,
		"begin":              p.begin,
		"end":                p.end,
		"create_topic":       p.createTopic,
		"delete_topic":       p.deleteTopic,
		"topics":             p.topics,
		"leaders":            p.leaders,
		"create_partitions":  p.createPartitions,
		"topic_configs":      p.topicConfigs,
		"alter_topic_config": p.alterTopicConfig,
		"delete_records":     p.deleteRecords,
		"cluster":            p.cluster,
		"groups":             p.groups,
		"group_offsets":      p.groupOffsets,
		"delete_group":       p.deleteGroup,
	}
}

// Sarama does not ask which versions a broker has: it takes those of the release it is told.
func plain() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V4_3_1_0
	return config
}

func producing() *sarama.Config {
	config := plain()
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.MaxMessageBytes = lines.LargeBytes
	config.Producer.Flush.Frequency = 50 * time.Millisecond
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	return config
}

func (p *program) produce(question lines.Question) (any, error) {
	acks := map[string]sarama.RequiredAcks{
		"0": sarama.NoResponse, "1": sarama.WaitForLocal, "all": sarama.WaitForAll,
	}
	config := producing()
	config.Producer.RequiredAcks = acks[question.Acks]
	if err := config.Producer.Compression.UnmarshalText([]byte(question.Compression)); err != nil {
		return nil, err
	}
	if question.Idempotent {
		config.Producer.Idempotent = true
		config.Net.MaxOpenRequests = 1
	}
	producer, err := sarama.NewSyncProducer(p.brokers, config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	return send(producer, question)
}

// Sends the records of a question and waits for all of them.
func send(producer sarama.SyncProducer, question lines.Question) ([]int64, error) {
	messages := []*sarama.ProducerMessage{}
	for _, sent := range question.Records {
		message := &sarama.ProducerMessage{
			Topic: question.Topic, Partition: sent.Partition, Timestamp: sent.Time(),
		}
		if sent.Key != nil {
			message.Key = sarama.ByteEncoder(sent.Key)
		}
		if sent.Value != nil {
			message.Value = sarama.ByteEncoder(sent.Value)
		}
		for _, header := range sent.Headers {
			pair := sarama.RecordHeader{Key: []byte(header.Name), Value: header.Value}
			message.Headers = append(message.Headers, pair)
		}
		messages = append(messages, message)
	}
	if err := producer.SendMessages(messages); err != nil {
		var failed sarama.ProducerErrors
		if errors.As(err, &failed) {
			return nil, failed[0].Err
		}
		return nil, err
	}
	offsets := []int64{}
	for _, message := range messages {
		offsets = append(offsets, message.Offset)
	}
	return offsets, nil
}

func (p *program) consume(question lines.Question) (any, error) {
	config := plain()
	config.Consumer.Return.Errors = true
	config.Consumer.Fetch.Default = lines.LargeBytes
	if question.Isolation == "read_committed" {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	consumer, err := sarama.NewConsumer(p.brokers, config)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	start := question.StartOffset(sarama.OffsetOldest, sarama.OffsetNewest)
	partition, err := consumer.ConsumePartition(question.Topic, question.Partition, start)
	if err != nil {
		return nil, err
	}
	defer partition.AsyncClose()
	found := []lines.Received{}
	deadline := time.After(question.Wait())
	for len(found) < question.Count {
		select {
		case message := <-partition.Messages():
			found = append(found, received(message))
		case failed := <-partition.Errors():
			return nil, failed.Err
		case <-deadline:
			return found, nil
		}
	}
	return found, nil
}

// Sarama does not tell which kind of timestamp a record has.
func received(message *sarama.ConsumerMessage) lines.Received {
	headers := []lines.Header{}
	for _, header := range message.Headers {
		headers = append(headers, lines.Header{Name: string(header.Key), Value: header.Value})
	}
	return lines.Received{
		Offset: message.Offset, Value: message.Value, Key: message.Key, Headers: headers,
		TimestampMs: message.Timestamp.UnixMilli(), Partition: message.Partition,
	}
}

func (p *program) begin(question lines.Question) (any, error) {
	config := producing()
	config.Producer.Idempotent = true
	config.Producer.Transaction.ID = question.TransactionalID
	config.Net.MaxOpenRequests = 1
	producer, err := sarama.NewSyncProducer(p.brokers, config)
	if err != nil {
		return nil, err
	}
	p.producers[question.Producer] = producer
	if err := producer.BeginTxn(); err != nil {
		return nil, err
	}
	_, err = send(producer, question)
	return nil, err
}

func (p *program) end(question lines.Question) (any, error) {
	producer := p.producers[question.Producer]
	delete(p.producers, question.Producer)
	defer producer.Close()
	if question.Group != "" {
		offset := &sarama.PartitionOffsetMetadata{Partition: 0, Offset: question.Offset}
		offsets := map[string][]*sarama.PartitionOffsetMetadata{question.Topic: {offset}}
		if err := producer.AddOffsetsToTxn(offsets, question.Group); err != nil {
			return nil, err
		}
	}
	if question.Commit {
		return nil, producer.CommitTxn()
	}
	return nil, producer.AbortTxn()
}
