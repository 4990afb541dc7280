package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A broker that answers nothing for so long is taken for dead.
const patience = 60 * time.Second

// An ApiVersions request, version 0, without a client id: every broker answers it.
var hello = []byte{0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 0, 0xff, 0xff}

// load is one run: connections, and what came of it.
type load struct {
	plan        *Plan
	frames      [][]byte
	connections []*connection
	poll        int
	timer       int
	buffer      []byte
	gathered    []byte
	start       time.Time
	end         time.Time // when the last answer came
	issued      int64
	answers     int64
	answerBytes int64
	smallest    int
	largest     int
	lastAnswer  []byte
	latencies   []time.Duration
}

// Result is what is printed; times in microseconds.
type Result struct {
	Requests    int64   `json:"requests"`
	Seconds     float64 `json:"seconds"`
	AnswerBytes int64   `json:"answer_bytes"`
	Smallest    int     `json:"smallest"`
	Largest     int     `json:"largest"`
	LastAnswer  string  `json:"last_answer"`
	P50         float64 `json:"p50_us"`
	P99         float64 `json:"p99_us"`
	P999        float64 `json:"p999_us"`
	Max         float64 `json:"max_us"`
}

// connect opens all connections; each has had one answer, so that the broker knows it.
func (l *load) connect() error {
	target, err := netip.ParseAddrPort(l.plan.Address)
	if err != nil {
		return err
	}
	if l.poll, err = unix.EpollCreate1(0); err != nil {
		return err
	}
	for number := range l.plan.Connections {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		if l.plan.Sources > 1 {
			// Ports of one address do not suffice for every number of connections.
			source := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, byte(1 + number%l.plan.Sources)}}
			if err := unix.Bind(fd, source); err != nil {
				return err
			}
		}
		if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(target.Port()), Addr: target.Addr().As4()}); err != nil {
			return fmt.Errorf("connection %d: %w", number, err)
		}
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
			return err
		}
		if err := greet(fd); err != nil {
			return fmt.Errorf("connection %d: %w", number, err)
		}
		if err := unix.SetNonblock(fd, true); err != nil {
			return err
		}
		c := &connection{fd: fd, number: number, turn: number, counter: l.plan.Counter}
		l.connections = append(l.connections, c)
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(number)}
		if err := unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			return err
		}
	}
	return nil
}

func greet(fd int) error {
	if _, err := unix.Write(fd, hello); err != nil {
		return err
	}
	answer := make([]byte, 0, 4096)
	for len(answer) < 4 || len(answer) < 4+int(binary.BigEndian.Uint32(answer)) {
		n, err := unix.Read(fd, answer[len(answer):cap(answer)])
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("closed by the broker")
		}
		answer = answer[:len(answer)+n]
	}
	return nil
}

// run sends and receives until the plan's end and the last answer.
func (l *load) run() error {
	l.buffer = make([]byte, 1<<20)
	l.start = time.Now()
	if l.plan.InFlight == 0 {
		time.Sleep(seconds(l.plan.Seconds))
		l.end = time.Now()
		return nil
	}
	if l.plan.Rate > 0 {
		if err := l.openTimer(); err != nil {
			return err
		}
	}
	for _, c := range l.connections {
		if err := l.fill(c); err != nil {
			return err
		}
	}
	events := make([]unix.EpollEvent, 256)
	for heard := l.start; !l.finished(); {
		if err := l.issueDue(); err != nil {
			return err
		}
		n, err := unix.EpollWait(l.poll, events, 1000)
		if err != nil && err != unix.EINTR {
			return err
		}
		if n > 0 {
			heard = time.Now()
		} else if time.Since(heard) > patience {
			return fmt.Errorf("no answer for %s", patience)
		}
		for _, event := range events[:max(n, 0)] {
			if err := l.handle(event); err != nil {
				return err
			}
		}
	}
	if l.plan.Unanswered {
		return l.confirm()
	}
	return nil
}

func (l *load) handle(event unix.EpollEvent) error {
	if event.Fd < 0 {
		var expirations [8]byte
		_, _ = unix.Read(l.timer, expirations[:])
		return nil
	}
	c := l.connections[event.Fd]
	if event.Events&unix.EPOLLOUT != 0 {
		done, err := c.flush()
		if err != nil {
			return err
		}
		if done {
			if err := l.watch(c, unix.EPOLLIN); err != nil {
				return err
			}
		}
	}
	if event.Events&^unix.EPOLLOUT != 0 {
		if err := c.read(l.buffer, func(size int, body []byte) { l.answered(c, size, body) }); err != nil {
			return err
		}
	}
	return l.fill(c)
}

func (l *load) watch(c *connection, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(c.number)}
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_MOD, c.fd, &event)
}

func (l *load) answered(c *connection, size int, body []byte) {
	l.end = time.Now()
	l.latencies = append(l.latencies, l.end.Sub(c.began[0]))
	c.began = c.began[:copy(c.began, c.began[1:])]
	l.answers++
	l.answerBytes += int64(size)
	if l.answers == 1 || size < l.smallest {
		l.smallest = size
	}
	l.largest = max(l.largest, size)
	if body != nil {
		l.lastAnswer = append(l.lastAnswer[:0], body...)
	}
}

// ended says whether no further request may begin.
func (l *load) ended() bool {
	if l.plan.Requests > 0 && l.issued >= l.plan.Requests {
		return true
	}
	return l.plan.Seconds > 0 && time.Since(l.start) >= seconds(l.plan.Seconds)
}

func (l *load) finished() bool {
	if !l.ended() {
		return false
	}
	for _, c := range l.connections {
		if c.inFlight() > 0 || len(c.overdue) > 0 || len(c.unsent) > 0 {
			return false
		}
	}
	return true
}

// fill begins as many requests as have room on the connection.
func (l *load) fill(c *connection) error {
	if len(c.unsent) > 0 {
		return nil
	}
	l.gathered = l.gathered[:0]
	// Without answers nothing else would ever stop us from filling.
	for room := l.plan.InFlight - c.inFlight(); room > 0; room-- {
		when := time.Now()
		if l.plan.Rate > 0 {
			if len(c.overdue) == 0 {
				break
			}
			when = c.overdue[0]
			c.overdue = c.overdue[:copy(c.overdue, c.overdue[1:])]
		} else if l.ended() {
			break
		} else {
			l.issued++
		}
		if err := l.send(c, l.next(c), when, !l.plan.Unanswered); err != nil {
			return err
		}
	}
	return l.release(c)
}

// next is the frame whose turn it is.
func (l *load) next(c *connection) []byte {
	if l.plan.OwnFrames {
		return l.frames[c.number%len(l.frames)]
	}
	count := len(l.frames)
	if l.plan.Unanswered {
		count-- // the last one is not sent in turn
	}
	frame := l.frames[c.turn%count]
	c.turn++
	return frame
}

// send stamps a frame and gathers it, or hands it to the socket if it is long.
func (l *load) send(c *connection, frame []byte, when time.Time, isAnswered bool) error {
	binary.BigEndian.PutUint32(frame[correlationAt:], uint32(c.nextID))
	if l.plan.CounterAt > 0 {
		binary.BigEndian.PutUint32(frame[l.plan.CounterAt:], uint32(c.counter))
		c.counter++
	}
	c.nextID++
	if isAnswered {
		c.began = append(c.began, when)
	} else {
		c.answerID++
	}
	if len(frame) <= gatherUpTo {
		l.gathered = append(l.gathered, frame...)
		return nil
	}
	if err := l.release(c); err != nil {
		return err
	}
	return c.write(frame)
}

// release hands what was gathered to the socket.
func (l *load) release(c *connection) error {
	if len(l.gathered) > 0 {
		if err := c.write(l.gathered); err != nil {
			return err
		}
		l.gathered = l.gathered[:0]
	}
	if len(c.unsent) > 0 || l.plan.Unanswered && !l.ended() {
		return l.watch(c, unix.EPOLLIN|unix.EPOLLOUT)
	}
	return nil
}

// confirm sends the last frame on each connection and waits: when it is answered, all are done.
func (l *load) confirm() error {
	l.plan.Unanswered = false
	for _, c := range l.connections {
		if err := unix.SetNonblock(c.fd, false); err != nil {
			return err
		}
		if err := l.send(c, l.frames[len(l.frames)-1], time.Now(), true); err != nil {
			return err
		}
		if err := l.release(c); err != nil {
			return err
		}
		for c.inFlight() > 0 {
			if err := c.read(l.buffer, func(size int, body []byte) { l.answered(c, size, body) }); err != nil {
				return err
			}
		}
	}
	l.answers = l.issued
	return nil
}

// Paced requests

func (l *load) openTimer() error {
	var err error
	if l.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK); err != nil {
		return err
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: -1}
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, l.timer, &event)
}

// issueDue begins what should have begun by now, and sets the timer to what comes next.
func (l *load) issueDue() error {
	if l.plan.Rate == 0 {
		return nil
	}
	for !l.ended() {
		due := l.start.Add(seconds(float64(l.issued) / l.plan.Rate))
		if wait := time.Until(due); wait > 0 {
			spec := unix.ItimerSpec{Value: unix.NsecToTimespec(wait.Nanoseconds())}
			return unix.TimerfdSettime(l.timer, 0, &spec, nil)
		}
		c := l.connections[l.issued%int64(len(l.connections))]
		c.overdue = append(c.overdue, due)
		l.issued++
		if err := l.fill(c); err != nil {
			return err
		}
	}
	return nil
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

func (l *load) result() Result {
	slices.Sort(l.latencies)
	share := func(part float64) float64 {
		if len(l.latencies) == 0 {
			return 0
		}
		index := min(int(part*float64(len(l.latencies))), len(l.latencies)-1)
		return float64(l.latencies[index].Nanoseconds()) / 1000
	}
	return Result{
		Requests: l.answers, Seconds: l.end.Sub(l.start).Seconds(), AnswerBytes: l.answerBytes,
		Smallest: l.smallest, Largest: l.largest,
		LastAnswer: base64.StdEncoding.EncodeToString(l.lastAnswer),
		P50:        share(0.5), P99: share(0.99), P999: share(0.999), Max: share(1),
	}
}
