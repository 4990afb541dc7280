"""Length-prefixed frames, sans-IO: bytes in, positions of whole frames out.

Every Kafka request is a 4-byte big-endian length followed by that many bytes. This module knows
nothing else about either of them.

    room = buffer.room()              # where the next bytes go
    buffer.received(sock.recv_into(room))
    while (frame := buffer.next_frame()) is not None:
        start, end = frame            # in buffer.data

A frame is a pair of positions in one bytearray, so a batch of records travels from the socket to
the log without being copied. The price is a rule: the bytes of a frame are valid only until `room`
is called again, which may move or overwrite them. Nobody keeps a view on them.

Memory follows the data that came, never the length that was promised (CVE-2022-34917,
CVE-2026-10142): the buffer grows at most `GROWTH` times beyond what a client really sent.

All connections of a server receive into one buffer that they share. What is left in it at the end
of a turn, a part of a frame, gets a buffer of its own (`split`). So a connection that is idle, or
sends small requests whole, holds no memory at all.
"""

import struct

from kbroker.wire import ProtocolError

# Room for the requests of a client that asks small things one at a time. It is a good part of what
# a connection costs, and there may be thousands.
SMALLEST_BYTES = 2048
# A full buffer becomes this many times larger: 1 MiB is reached in five steps.
GROWTH = 4
# A client that pipelines small requests fills the buffer without ever needing more for one frame.
# Up to this size the buffer grows for it, so that one read takes many requests.
READ_AHEAD_BYTES = 1 << 16

_LENGTH_BYTES = 4
_unpack_length = struct.Struct(">i").unpack_from


class ReceiveBuffer:
    """The bytes of one connection that were received and not yet handled.

    ``data[_start:_end]`` are those bytes; what lies before was handled, what lies behind is room.
    ``max_frame_bytes`` may change at any time: it is small until a client is authenticated.
    """

    __slots__ = ("_end", "_start", "_view", "data", "max_frame_bytes")

    def __init__(self, max_frame_bytes: int, capacity: int = 0) -> None:
        self.max_frame_bytes = max_frame_bytes
        self.data = bytearray(capacity)
        self._view = memoryview(self.data)
        self._start = 0
        self._end = 0

    def __len__(self) -> int:
        return self._end - self._start

    @property
    def capacity(self) -> int:
        """How much memory is held."""
        return len(self.data)

    @property
    def is_full(self) -> bool:
        """Whether the room given out last was filled to its end."""
        return self._end == len(self.data)

    def next_frame(self) -> tuple[int, int] | None:
        """Where the next whole frame starts and ends, behind its length; None if it is not there.

        ProtocolError if the length is negative or above the limit; the connection is then lost,
        because nobody can tell where the next frame would start.
        """
        start = self._start + _LENGTH_BYTES
        if start > self._end:
            return None
        (length,) = _unpack_length(self.data, self._start)
        if not 0 <= length <= self.max_frame_bytes:
            raise ProtocolError(
                f"a request of {length} bytes, where 0 to {self.max_frame_bytes} are allowed"
            )
        end = start + length
        if end > self._end:
            return None
        self._start = end
        return start, end

    def room(self) -> memoryview:
        """Where to put the next bytes, at least one; invalidates all frames given out before."""
        capacity = len(self.data)
        if self._start == self._end:
            self._start = self._end = 0
            if not capacity:
                self._replace(SMALLEST_BYTES)
            return self._view
        if self._start and self._start + self._needed() > capacity:
            self._move_to_front()
        if self._end == capacity:
            self._replace(min(capacity * GROWTH, self._wanted()))
        return self._view[self._end :]

    def received(self, count: int) -> None:
        """The first ``count`` bytes of the room were filled."""
        self._end += count
        assert self._end <= len(self.data)

    def split(self) -> "ReceiveBuffer":
        """Move what is in it to a new buffer, which has room for more of that."""
        count = self._end - self._start
        capacity = max(SMALLEST_BYTES, min(count * GROWTH, self._wanted()))
        own = ReceiveBuffer(self.max_frame_bytes, capacity)
        own.data[:count] = self._view[self._start : self._end]
        own._end = count
        self.clear()
        return own

    def clear(self) -> None:
        """Forget all that was received."""
        self._start = self._end = 0

    def _needed(self) -> int:
        """How many bytes the frame that is coming takes, as far as its length is known."""
        if self._start + _LENGTH_BYTES > self._end:
            return _LENGTH_BYTES
        (length,) = _unpack_length(self.data, self._start)
        return _LENGTH_BYTES + int(length)

    def _wanted(self) -> int:
        """A capacity for the coming frame; a power of two, so that sizes that vary fit it too."""
        wanted = max(self._needed(), READ_AHEAD_BYTES, len(self.data) + 1)
        return 1 << (wanted - 1).bit_length()

    def _move_to_front(self) -> None:
        # Happens at most once to each byte: afterwards it stands at the front.
        count = self._end - self._start
        self._view[:count] = self._view[self._start : self._end]
        self._start, self._end = 0, count

    def _replace(self, capacity: int) -> None:
        count = self._end - self._start
        larger = bytearray(capacity)
        larger[:count] = self._view[self._start : self._end]
        self._start, self._end = 0, count
        self._adopt(larger)

    def _adopt(self, data: bytearray) -> None:
        # The old view is not released by hand: a handler that wrongly kept a slice of it would
        # turn that into an error here, in a connection that did nothing wrong.
        self.data = data
        self._view = memoryview(data)
