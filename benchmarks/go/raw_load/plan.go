package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
)

// Plan is what one run does; the fields are those of benchmarks/measuring/raw_load.py.
type Plan struct {
	Address     string  `json:"address"`
	Connections int     `json:"connections"`
	InFlight    int     `json:"in_flight"`  // requests under way on each connection
	Seconds     float64 `json:"seconds"`    // no request is begun later; 0: no such end
	Requests    int64   `json:"requests"`   // no more than these; 0: no such end
	Rate        float64 `json:"rate"`       // requests in a second over all connections; 0: all it can
	Frames      string  `json:"frames"`     // the file of prepared requests, length prefixes and all
	OwnFrames   bool    `json:"own_frames"` // connection n sends only frame n, not all in turn
	CounterAt   int     `json:"counter_at"` // where a number of four bytes rises by one; 0: nowhere
	Counter     int32   `json:"counter"`    // the first value of that number
	Unanswered  bool    `json:"unanswered"` // only the last frame gets an answer; it is sent once, at the end
	Sources     int     `json:"sources"`    // how many addresses 127.0.0.x to connect from
}

// correlationAt is where the correlation id stands in a frame: behind length, key and version.
const correlationAt = 8

func readPlan(path string) (*Plan, [][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	plan := &Plan{}
	if err := json.Unmarshal(text, plan); err != nil {
		return nil, nil, err
	}
	if plan.Frames == "" {
		return plan, nil, nil
	}
	data, err := os.ReadFile(plan.Frames)
	if err != nil {
		return nil, nil, err
	}
	var frames [][]byte
	for len(data) > 0 {
		if len(data) < correlationAt+4 {
			return nil, nil, fmt.Errorf("half a frame at the end of %s", plan.Frames)
		}
		end := 4 + int(binary.BigEndian.Uint32(data))
		if end > len(data) {
			return nil, nil, fmt.Errorf("half a frame at the end of %s", plan.Frames)
		}
		frames = append(frames, data[:end:end])
		data = data[end:]
	}
	return plan, frames, nil
}
