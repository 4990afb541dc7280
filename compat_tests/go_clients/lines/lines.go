// Package lines is the Go end of the lines between scenarios and client programs: one JSON object
// per line in, one per line out (see compat_tests/program.py).
package lines

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// LargeBytes is room for records of 10 MB.
const LargeBytes = 12_000_000

// Patience is how long a client may take for anything, on two busy cores.
const Patience = 20 * time.Second

// Header is a pair in JSON; a value may be null.
type Header struct {
	Name  string
	Value []byte
}

// MarshalJSON writes the pair.
func (h Header) MarshalJSON() ([]byte, error) { return json.Marshal([]any{h.Name, h.Value}) }

// UnmarshalJSON reads the pair.
func (h *Header) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&h.Name, &h.Value})
}

// Sent is a record to produce; without a timestamp the client takes its own.
type Sent struct {
	Value       []byte   `json:"value"`
	Key         []byte   `json:"key"`
	Headers     []Header `json:"headers"`
	TimestampMs *int64   `json:"timestamp_ms"`
	Partition   int32    `json:"partition"`
}

// Time is the record's timestamp, or the zero time.
func (s Sent) Time() time.Time {
	if s.TimestampMs == nil {
		return time.Time{}
	}
	return time.UnixMilli(*s.TimestampMs)
}

// Received is a record that was consumed; a timestamp type of nil is never told.
type Received struct {
	Offset        int64    `json:"offset"`
	Value         []byte   `json:"value"`
	Key           []byte   `json:"key"`
	Headers       []Header `json:"headers"`
	TimestampMs   int64    `json:"timestamp_ms"`
	TimestampType *int     `json:"timestamp_type"`
	Partition     int32    `json:"partition"`
}

// Question has the arguments of every verb.
type Question struct {
	Verb            string            `json:"verb"`
	Topic           string            `json:"topic"`
	Records         []Sent            `json:"records"`
	Acks            string            `json:"acks"`
	Compression     string            `json:"compression"`
	Idempotent      bool              `json:"idempotent"`
	Count           int               `json:"count"`
	Start           any               `json:"start"`
	Partition       int32             `json:"partition"`
	Isolation       string            `json:"isolation"`
	WaitS           float64           `json:"wait_s"`
	Group           string            `json:"group"`
	TimestampMs     int64             `json:"timestamp_ms"`
	Producer        string            `json:"producer"`
	TransactionalID string            `json:"transactional_id"`
	Commit          bool              `json:"commit"`
	Offset          int64             `json:"offset"`
	Partitions      int32             `json:"partitions"`
	Configs         map[string]string `json:"configs"`
	Total           int32             `json:"total"`
	Name            string            `json:"name"`
	Value           string            `json:"value"`
	BeforeOffset    int64             `json:"before_offset"`
}

// Wait is how long a consumer waits for records.
func (q Question) Wait() time.Duration { return time.Duration(q.WaitS * float64(time.Second)) }

// StartOffset is where to begin, with what the client calls the beginning and the end.
func (q Question) StartOffset(beginning, end int64) int64 {
	switch start := q.Start.(type) {
	case float64:
		return int64(start)
	default:
		if start == "end" {
			return end
		}
		return beginning
	}
}

// Verbs answer a question each.
type Verbs map[string]func(Question) (any, error)

// Serve answers until there are no more questions; code finds Kafka's error code in an error.
func Serve(verbs Verbs, code func(error) (int, bool)) {
	questions := json.NewDecoder(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	answers.SetEscapeHTML(false)
	for {
		var question Question
		if err := questions.Decode(&question); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		if err := answers.Encode(answer(verbs, question, code)); err != nil {
			panic(err)
		}
	}
}

func answer(verbs Verbs, question Question, code func(error) (int, bool)) map[string]any {
	verb, known := verbs[question.Verb]
	if !known {
		return map[string]any{"error": fmt.Sprintf("this client has no %s", question.Verb)}
	}
	told, err := verb(question)
	if err == nil {
		return map[string]any{"ok": told}
	}
	refusal := map[string]any{"error": err.Error(), "code": nil}
	if number, found := code(err); found {
		refusal["code"] = number
	}
	return refusal
}
