// segmentio's kafka-go as a client program: `serve BOOTSTRAP` goes through scenarios, `member ...`
// joins a group.
package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"kbroker/compat_tests/go_clients/lines"

	"github.com/segmentio/kafka-go"
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
	var failed kafka.WriteErrors
	if errors.As(err, &failed) {
		for _, each := range failed {
			if each != nil {
				return code(each)
			}
		}
	}
	var large kafka.MessageTooLargeError
	if errors.As(err, &large) {
		return int(kafka.MessageSizeTooLarge), true
	}
	var known kafka.Error
	if errors.As(err, &known) {
		return int(known), true
	}
	return 0, false
}

type program struct {
	bootstrap string
	client    *kafka.Client
}

func newProgram(bootstrap string) *program {
	client := &kafka.Client{Addr: kafka.TCP(bootstrap), Timeout: lines.Patience}
	return &program{bootstrap, client}
}

func (p *program) verbs() lines.Verbs {
	return lines.Verbs{
		"produce":            p.produce,
		"consume":            p.consume,
		"consume_in_group":   p.consumeInGroup,
		"watermarks":         p.watermarks,
		"offset_for_time":    p.offsetForTime,
		"create_topic":       p.createTopic,
		"delete_topic":       p.deleteTopic,
		"topics":             p.topics,
		"leaders":            p.leaders,
		"create_partitions":  p.createPartitions,
		"topic_configs":      p.topicConfigs,
		"alter_topic_config": p.alterTopicConfig,
		"cluster":            p.cluster,
		"groups":             p.groups,
		"group_offsets":      p.groupOffsets,
		"delete_group":       p.deleteGroup,
	}
}

// What a writer carries along with a message: where it goes, and which one it was.
type place struct{ partition, index int }

func (p *program) produce(question lines.Question) (any, error) {
	acks := map[string]kafka.RequiredAcks{
		"0": kafka.RequireNone, "1": kafka.RequireOne, "all": kafka.RequireAll,
	}
	codecs := map[string]kafka.Compression{
		"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
	}
	offsets := make([]int64, len(question.Records))
	var writing sync.Mutex
	writer := &kafka.Writer{
		Addr: kafka.TCP(p.bootstrap), Topic: question.Topic,
		RequiredAcks: acks[question.Acks], Compression: codecs[question.Compression],
		BatchTimeout: 50 * time.Millisecond, BatchBytes: lines.LargeBytes, BatchSize: 1000,
		AllowAutoTopicCreation: true,
		Balancer: kafka.BalancerFunc(func(message kafka.Message, _ ...int) int {
			return message.WriterData.(place).partition
		}),
		Completion: func(messages []kafka.Message, _ error) {
			writing.Lock()
			defer writing.Unlock()
			for _, message := range messages {
				offsets[message.WriterData.(place).index] = message.Offset
			}
		},
	}
	messages := []kafka.Message{}
	for index, sent := range question.Records {
		message := kafka.Message{
			Key: sent.Key, Value: sent.Value, Time: sent.Time(),
			WriterData: place{int(sent.Partition), index},
		}
		for _, header := range sent.Headers {
			pair := kafka.Header{Key: header.Name, Value: header.Value}
			message.Headers = append(message.Headers, pair)
		}
		messages = append(messages, message)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lines.Patience)
	defer cancel()
	failed := writer.WriteMessages(ctx, messages...)
	if err := writer.Close(); err != nil {
		return nil, err
	}
	writing.Lock()
	defer writing.Unlock()
	return offsets, failed
}

func (p *program) consume(question lines.Question) (any, error) {
	config := kafka.ReaderConfig{
		Brokers: []string{p.bootstrap}, Topic: question.Topic, Partition: int(question.Partition),
		MinBytes: 1, MaxBytes: lines.LargeBytes, MaxWait: 500 * time.Millisecond,
		OffsetOutOfRangeError: true, IsolationLevel: kafka.ReadUncommitted,
	}
	if question.Isolation == "read_committed" {
		config.IsolationLevel = kafka.ReadCommitted
	}
	reader := kafka.NewReader(config)
	defer reader.Close()
	start := question.StartOffset(kafka.FirstOffset, kafka.LastOffset)
	if err := reader.SetOffset(start); err != nil {
		return nil, err
	}
	return read(reader, question.Count, question.Wait())
}

func (p *program) consumeInGroup(question lines.Question) (any, error) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{p.bootstrap}, Topic: question.Topic, GroupID: question.Group,
		StartOffset: kafka.FirstOffset, MaxWait: 500 * time.Millisecond,
	})
	defer reader.Close()
	return read(reader, question.Count, lines.Patience)
}

// ReadMessage commits as well, if the reader is a member of a group.
func read(reader *kafka.Reader, count int, wait time.Duration) ([]lines.Received, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	found := []lines.Received{}
	for len(found) < count {
		message, err := reader.ReadMessage(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, received(message))
	}
	return found, nil
}

// kafka-go does not tell which kind of timestamp a record has.
func received(message kafka.Message) lines.Received {
	headers := []lines.Header{}
	for _, header := range message.Headers {
		headers = append(headers, lines.Header{Name: header.Key, Value: header.Value})
	}
	return lines.Received{
		Offset: message.Offset, Value: message.Value, Key: message.Key, Headers: headers,
		TimestampMs: message.Time.UnixMilli(), Partition: int32(message.Partition),
	}
}
