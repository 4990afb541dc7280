// Transactions of franz-go, told what to do by lines; see compat_tests/transactions/program.py.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	timeout = 20 * time.Second
	end     = "end"
)

type transactor struct {
	bootstrap string
	producers []*kgo.Client
	ids       []string
	timeouts  []time.Duration
}

func main() {
	t := &transactor{bootstrap: os.Args[1]}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, err := t.obey(strings.Split(lines.Text(), "\t"))
		if err != nil {
			fmt.Printf("refused\t%s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Printf("ok\t%s\n", answer)
		}
	}
}

func (t *transactor) obey(words []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	switch words[0] {
	case "open":
		return t.open(ctx, words[1], words[2])
	case "begin":
		return "", t.producer(words).BeginTransaction()
	case "send":
		return "", send(ctx, t.producer(words), words[2], number(words[3]), strings.Split(words[4], ","))
	case "commit":
		return "", t.producer(words).EndTransaction(ctx, kgo.TryCommit)
	case "abort":
		return "", t.producer(words).EndTransaction(ctx, kgo.TryAbort)
	case "copy":
		read, err := t.copy(ctx, number(words[1]), words[2], words[3], words[4], int(number(words[5])), words[6] == "commit")
		return strings.Join(read, ","), err
	case "read":
		return t.read(words[1], number(words[2]), words[3], number(words[4]))
	}
	panic(words[0])
}

func (t *transactor) producer(words []string) *kgo.Client {
	return t.producers[number(words[1])]
}

func (t *transactor) open(ctx context.Context, id, timeoutMs string) (string, error) {
	limit := time.Duration(number(timeoutMs)) * time.Millisecond
	client, err := kgo.NewClient(
		kgo.SeedBrokers(t.bootstrap),
		kgo.TransactionalID(id),
		kgo.TransactionTimeout(limit),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.AllowAutoTopicCreation(),
	)
	if err != nil {
		return "", err
	}
	// The producer id is asked for only when it is needed; a zombie is fenced by asking.
	if _, _, err := client.ProducerID(ctx); err != nil {
		return "", err
	}
	t.producers = append(t.producers, client)
	t.ids = append(t.ids, id)
	t.timeouts = append(t.timeouts, limit)
	return strconv.Itoa(len(t.producers) - 1), nil
}

func send(ctx context.Context, client *kgo.Client, topic string, partition int32, values []string) error {
	var records []*kgo.Record
	for _, value := range values {
		records = append(records, &kgo.Record{Topic: topic, Partition: partition, Value: []byte(value)})
	}
	return client.ProduceSync(ctx, records...).FirstErr()
}

// copy takes over the id of the producer: franz-go ties positions to one client that reads and writes.
func (t *transactor) copy(
	ctx context.Context, producer int32, source, target, group string, count int, commit bool,
) ([]string, error) {
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(t.bootstrap),
		kgo.TransactionalID(t.ids[producer]),
		kgo.TransactionTimeout(t.timeouts[producer]),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.AllowAutoTopicCreation(),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(source),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RequireStableFetchOffsets(),
	)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	var read []string
	for len(read) < count {
		fetches := session.PollRecords(ctx, count-len(read))
		if err := fetches.Err(); err != nil {
			return read, err
		}
		fetches.EachRecord(func(record *kgo.Record) { read = append(read, string(record.Value)) })
	}
	if err := session.Begin(); err != nil {
		return read, err
	}
	var records []*kgo.Record
	for _, value := range read {
		records = append(records, &kgo.Record{Topic: target, Value: []byte(strings.ToUpper(value))})
	}
	if err := session.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return read, err
	}
	wish := kgo.TryAbort
	if commit {
		wish = kgo.TryCommit
	}
	committed, err := session.End(ctx, wish)
	if err == nil && committed != bool(wish) {
		err = fmt.Errorf("the transaction ended with committed=%v", committed)
	}
	return read, err
}

func (t *transactor) read(topic string, partition int32, isolation string, timeoutMs int32) (string, error) {
	level := kgo.ReadUncommitted()
	if isolation == "read_committed" {
		level = kgo.ReadCommitted()
	}
	start := kgo.NewOffset().AtStart()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(t.bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: start}}),
		kgo.FetchIsolationLevel(level),
		kgo.FetchMaxWait(200*time.Millisecond),
	)
	if err != nil {
		return "", err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(timeoutMs)*time.Millisecond)
	defer cancel()
	var read []string
	for ctx.Err() == nil && (len(read) == 0 || read[len(read)-1] != end) {
		client.PollFetches(ctx).EachRecord(func(record *kgo.Record) {
			read = append(read, string(record.Value))
		})
	}
	return strings.Join(read, ","), nil
}

func number(text string) int32 {
	value, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		panic(err)
	}
	return int32(value)
}
