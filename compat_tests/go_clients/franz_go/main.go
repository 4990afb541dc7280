// franz-go as a client program: `serve BOOTSTRAP` goes through scenarios, `member ...` joins a group.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"time"

	"kbroker/compat_tests/go_clients/lines"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		lines.Serve(newProgram(os.Args[2]).verbs(), code)
		return
	}
	os.Args = append(os.Args[:1], os.Args[2:]...)
	runMember()
}

// kgo knows errors of the protocol by pointers.
func code(err error) (int, bool) {
	var known *kerr.Error
	if errors.As(err, &known) {
		return int(known.Code), true
	}
	return 0, false
}

// A producer and the id that its transactions have.
type transactional struct {
	*kgo.Client
	id string
}

type program struct {
	bootstrap string
	producers map[string]transactional
}

func newProgram(bootstrap string) *program {
	return &program{bootstrap: bootstrap, producers: map[string]transactional{}}
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

func (p *program) client(opts ...kgo.Opt) *kgo.Client {
	opts = append([]kgo.Opt{kgo.SeedBrokers(p.bootstrap)}, opts...)
	client, err := kgo.NewClient(opts...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

func patience() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), lines.Patience)
}

func (p *program) produce(question lines.Question) (any, error) {
	acks := map[string]kgo.Acks{"0": kgo.NoAck(), "1": kgo.LeaderAck(), "all": kgo.AllISRAcks()}
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	opts := append(producing(),
		kgo.RequiredAcks(acks[question.Acks]),
		kgo.ProducerBatchCompression(codecs[question.Compression]),
	)
	if !question.Idempotent {
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	client := p.client(opts...)
	defer client.Close()
	return send(client, question)
}

func producing() []kgo.Opt {
	return []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(lines.LargeBytes),
		kgo.ProducerLinger(50 * time.Millisecond),
		kgo.AllowAutoTopicCreation(),
	}
}

// Sends the records of a question and waits for all of them.
func send(client *kgo.Client, question lines.Question) ([]int64, error) {
	records := []*kgo.Record{}
	for _, sent := range question.Records {
		record := &kgo.Record{
			Topic: question.Topic, Partition: sent.Partition,
			Key: sent.Key, Value: sent.Value, Timestamp: sent.Time(),
		}
		for _, header := range sent.Headers {
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: header.Name, Value: header.Value})
		}
		records = append(records, record)
	}
	ctx, cancel := patience()
	defer cancel()
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, err
	}
	offsets := []int64{}
	for _, record := range records {
		offsets = append(offsets, record.Offset)
	}
	return offsets, nil
}

func (p *program) consume(question lines.Question) (any, error) {
	offset := kgo.NewOffset().At(question.StartOffset(-2, -1))
	opts := []kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
			question.Topic: {question.Partition: offset},
		}),
		// An offset that is not there is an error.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxPartitionBytes(lines.LargeBytes),
	}
	if question.Isolation == "read_committed" {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	client := p.client(opts...)
	defer client.Close()
	return poll(client, question.Count, question.Wait())
}

func (p *program) consumeInGroup(question lines.Question) (any, error) {
	client := p.client(
		kgo.ConsumerGroup(question.Group),
		kgo.ConsumeTopics(question.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	)
	defer client.Close()
	found, err := poll(client, question.Count, lines.Patience)
	if err != nil {
		return nil, err
	}
	ctx, cancel := patience()
	defer cancel()
	return found, client.CommitUncommittedOffsets(ctx)
}

func poll(client *kgo.Client, count int, wait time.Duration) ([]lines.Received, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	found := []lines.Received{}
	for len(found) < count && ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		for _, failed := range fetches.Errors() {
			if !errors.Is(failed.Err, context.DeadlineExceeded) {
				return nil, failed.Err
			}
		}
		fetches.EachRecord(func(record *kgo.Record) { found = append(found, received(record)) })
	}
	return found, nil
}

func received(record *kgo.Record) lines.Received {
	kind := int(record.Attrs.TimestampType())
	headers := []lines.Header{}
	for _, header := range record.Headers {
		headers = append(headers, lines.Header{Name: header.Key, Value: header.Value})
	}
	return lines.Received{
		Offset: record.Offset, Value: record.Value, Key: record.Key, Headers: headers,
		TimestampMs: record.Timestamp.UnixMilli(), TimestampType: &kind, Partition: record.Partition,
	}
}

func (p *program) begin(question lines.Question) (any, error) {
	client := p.client(append(producing(), kgo.TransactionalID(question.TransactionalID))...)
	p.producers[question.Producer] = transactional{client, question.TransactionalID}
	if err := client.BeginTransaction(); err != nil {
		return nil, err
	}
	_, err := send(client, question)
	return nil, err
}

func (p *program) end(question lines.Question) (any, error) {
	producer := p.producers[question.Producer]
	delete(p.producers, question.Producer)
	defer producer.Close()
	ctx, cancel := patience()
	defer cancel()
	if question.Group != "" {
		if err := sendOffset(ctx, producer, question); err != nil {
			return nil, err
		}
	}
	return nil, producer.EndTransaction(ctx, kgo.TransactionEndTry(question.Commit))
}
