package main

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Answers longer than this are thrown away by the kernel instead of copied to us.
const discardFrom = 32 * 1024

// Frames up to this size are gathered, so that several leave with one system call.
const gatherUpTo = 16 * 1024

// connection is one socket: requests that wait for their answers, and half an answer.
type connection struct {
	fd       int
	number   int
	turn     int         // which frame is next
	counter  int32       // see Plan.CounterAt
	nextID   int32       // correlation id of the next request
	answerID int32       // correlation id of the next answer
	began    []time.Time // when each request under way should have left, the oldest first
	overdue  []time.Time // when those should have left that found all places taken
	unsent   []byte      // what the socket did not take yet
	partial  []byte      // the beginning of an answer
	skip     int         // how much of a long answer is still to be thrown away
	skipped  int         // the size of that answer
}

func (c *connection) inFlight() int { return len(c.began) }

// write hands data to the socket and keeps what it does not take.
func (c *connection) write(data []byte) error {
	if len(c.unsent) > 0 {
		c.unsent = append(c.unsent, data...)
		return nil
	}
	for len(data) > 0 {
		n, err := unix.Write(c.fd, data)
		if err == unix.EAGAIN {
			c.unsent = append(c.unsent[:0], data...)
			return nil
		}
		if err != nil {
			return fmt.Errorf("connection %d: write: %w", c.number, err)
		}
		data = data[n:]
	}
	return nil
}

// flush tries to send what was kept; says whether nothing is left.
func (c *connection) flush() (bool, error) {
	for len(c.unsent) > 0 {
		n, err := unix.Write(c.fd, c.unsent)
		if err == unix.EAGAIN {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("connection %d: write: %w", c.number, err)
		}
		c.unsent = c.unsent[:copy(c.unsent, c.unsent[n:])]
	}
	return true, nil
}

// read takes what has arrived and calls answered for each answer that is complete, with the bytes
// of those that are short. It reads once: a socket that has more is reported again.
func (c *connection) read(buffer []byte, answered func(size int, body []byte)) error {
	if c.skip > 0 {
		n, err := c.discard(buffer)
		c.skip -= n
		if err == nil && n > 0 && c.skip == 0 {
			answered(c.skipped, nil)
		}
		return err
	}
	held := copy(buffer, c.partial)
	n, err := unix.Read(c.fd, buffer[held:])
	if err == unix.EAGAIN {
		return nil
	}
	if err != nil {
		return fmt.Errorf("connection %d: read: %w", c.number, err)
	}
	if n == 0 {
		return fmt.Errorf("connection %d: closed by the broker", c.number)
	}
	data := buffer[:held+n]
	for len(data) >= 8 {
		size := int(binary.BigEndian.Uint32(data))
		whole := 4 + size
		if whole > len(data) && whole <= discardFrom {
			break
		}
		if id := int32(binary.BigEndian.Uint32(data[4:])); id != c.answerID {
			return fmt.Errorf("connection %d: answer %d, not %d", c.number, id, c.answerID)
		}
		c.answerID++
		if whole > len(data) {
			c.skip, c.skipped = whole-len(data), size
			data = nil
			break
		}
		answered(size, data[4:whole])
		data = data[whole:]
	}
	c.partial = append(c.partial[:0], data...)
	return nil
}

// discard lets the kernel throw bytes away: MSG_TRUNC on a stream takes them without a copy.
func (c *connection) discard(buffer []byte) (int, error) {
	most := min(c.skip, len(buffer))
	n, _, errno := unix.Syscall6(
		unix.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&buffer[0])), uintptr(most),
		uintptr(unix.MSG_TRUNC), 0, 0,
	)
	if errno == unix.EAGAIN {
		return 0, nil
	}
	if errno != 0 {
		return 0, fmt.Errorf("connection %d: read: %w", c.number, errno)
	}
	if n == 0 {
		return 0, fmt.Errorf("connection %d: closed by the broker", c.number)
	}
	return int(n), nil
}
