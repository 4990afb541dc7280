// Package events lets a member of a group tell what it does, one JSON object per line, in the
// words of Kafka's VerifiableConsumer (see compat_tests/member_events.py), and reads the options
// that all members have.
package events

import (
	"encoding/json"
	"flag"
	"os"
	"sync"
	"time"
)

// Options are the command line of a member.
type Options struct {
	Bootstrap, Group, Topic, Kind, InstanceID string
	SessionTimeout                            time.Duration
}

// Parse reads the command line.
func Parse() Options {
	var options Options
	flag.StringVar(&options.Bootstrap, "bootstrap", "", "the address of a broker")
	flag.StringVar(&options.Group, "group", "", "the group to join")
	flag.StringVar(&options.Topic, "topic", "", "the topic to subscribe to")
	flag.StringVar(&options.Kind, "kind", "", "how partitions are shared out")
	flag.StringVar(&options.InstanceID, "instance-id", "", "the name of a static member")
	millis := flag.Int("session-timeout-ms", 6000, "when a silent member counts as dead")
	flag.Parse()
	options.SessionTimeout = time.Duration(*millis) * time.Millisecond
	return options
}

type partition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Count     int64  `json:"count,omitempty"`
	MinOffset int64  `json:"minOffset"`
	MaxOffset int64  `json:"maxOffset"`
	Offset    int64  `json:"offset"`
}

type event struct {
	Timestamp  int64       `json:"timestamp"`
	Name       string      `json:"name"`
	Success    bool        `json:"success"`
	Partitions []partition `json:"partitions"`
	Offsets    []partition `json:"offsets"`
}

// Sarama reads each partition in a goroutine of its own; lines must not mix.
var writing sync.Mutex

func tell(told event) {
	writing.Lock()
	defer writing.Unlock()
	told.Timestamp = time.Now().UnixMilli()
	if err := json.NewEncoder(os.Stdout).Encode(told); err != nil {
		panic(err)
	}
}

func plain(topic string, numbers []int32) []partition {
	found := []partition{}
	for _, number := range numbers {
		found = append(found, partition{Topic: topic, Partition: number})
	}
	return found
}

// Assigned tells which partitions the member owns from now on, besides those it has.
func Assigned(topic string, numbers []int32) {
	tell(event{Name: "partitions_assigned", Partitions: plain(topic, numbers)})
}

// Revoked tells which partitions the member does not own any more.
func Revoked(topic string, numbers []int32) {
	tell(event{Name: "partitions_revoked", Partitions: plain(topic, numbers)})
}

// Consumed tells which records of a partition were read.
func Consumed(topic string, number int32, first, last, count int64) {
	read := partition{Topic: topic, Partition: number, MinOffset: first, MaxOffset: last, Count: count}
	tell(event{Name: "records_consumed", Partitions: []partition{read}})
}

// Committed tells an offset that the coordinator confirmed.
func Committed(topic string, number int32, offset int64) {
	committed := partition{Topic: topic, Partition: number, Offset: offset}
	tell(event{Name: "offsets_committed", Success: true, Offsets: []partition{committed}})
}
