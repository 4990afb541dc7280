"""Frames out of a stream of bytes, however it is cut, and what they cost."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.server.frames import GROWTH, READ_AHEAD_BYTES, SMALLEST_BYTES, ReceiveBuffer
from kbroker.wire import ProtocolError


def framed(body):
    return struct.pack(">i", len(body)) + body


def feed(buffer, data):
    """Put ``data`` in, as much at a time as there is room; all frames that come out."""
    frames = []
    while data:
        room = buffer.room()
        assert len(room) > 0
        count = min(len(room), len(data))
        room[:count] = data[:count]
        buffer.received(count)
        data = data[count:]
        while (frame := buffer.next_frame()) is not None:
            frames.append(bytes(buffer.data[frame[0] : frame[1]]))
    return frames


def test_frames_come_out_whole_wherever_the_stream_is_cut():
    stream = framed(b"one") + framed(b"") + framed(b"three")
    for cut in range(len(stream) + 1):
        buffer = ReceiveBuffer(100)
        assert feed(buffer, stream[:cut]) + feed(buffer, stream[cut:]) == [b"one", b"", b"three"]


@given(
    st.lists(st.binary(max_size=30_000), max_size=8),
    st.lists(st.integers(1, 20_000), min_size=1, max_size=20),
)
def test_frames_of_all_sizes_survive_pieces_of_all_sizes(bodies, sizes):
    stream = b"".join(map(framed, bodies))
    buffer = ReceiveBuffer(1 << 20)
    frames, position, turn = [], 0, 0
    while position < len(stream):
        step = sizes[turn % len(sizes)]
        frames += feed(buffer, stream[position : position + step])
        position, turn = position + step, turn + 1
    assert frames == bodies
    assert len(buffer) == 0


@pytest.mark.parametrize("length", [-1, -(2**31), 101, 2**31 - 1])
def test_a_length_outside_the_limits_is_refused(length):
    buffer = ReceiveBuffer(100)
    with pytest.raises(ProtocolError, match=str(length)):
        feed(buffer, struct.pack(">i", length))


def test_the_limit_may_change_between_two_frames():
    buffer = ReceiveBuffer(3)
    assert feed(buffer, framed(b"abc")) == [b"abc"]
    buffer.max_frame_bytes = 4
    assert feed(buffer, framed(b"abcd")) == [b"abcd"]


def test_memory_follows_the_bytes_received_not_the_length_promised():
    buffer = ReceiveBuffer(100 << 20)
    feed(buffer, struct.pack(">i", 100 << 20))
    assert buffer.capacity == SMALLEST_BYTES
    for _ in range(40):
        feed(buffer, bytes(10_000))
        assert buffer.capacity <= GROWTH * max(len(buffer), SMALLEST_BYTES)


def test_a_frame_gets_no_more_than_the_next_power_of_two():
    buffer = ReceiveBuffer(100 << 20)
    assert feed(buffer, framed(bytes(300_000))) == [bytes(300_000)]
    assert buffer.capacity == 1 << 19


def test_small_pipelined_frames_do_not_grow_the_buffer_beyond_the_read_ahead():
    buffer = ReceiveBuffer(100 << 20)
    assert len(feed(buffer, framed(bytes(100)) * 10_000)) == 10_000
    assert buffer.capacity <= READ_AHEAD_BYTES


def test_what_is_left_in_a_shared_buffer_moves_to_one_of_its_own():
    shared = ReceiveBuffer(1 << 20, READ_AHEAD_BYTES)
    assert feed(shared, framed(b"whole") + framed(b"other")[:-1]) == [b"whole"]
    own = shared.split()
    assert len(shared) == 0
    assert own.capacity == SMALLEST_BYTES
    assert feed(own, b"r" + framed(b"next")) == [b"other", b"next"]
    assert feed(shared, framed(b"somebody else's")) == [b"somebody else's"]


def test_a_large_part_of_a_frame_gets_room_in_proportion_to_it():
    shared = ReceiveBuffer(100 << 20, READ_AHEAD_BYTES)
    room = shared.room()
    room[:4] = struct.pack(">i", 50 << 20)
    shared.received(len(room))
    assert shared.is_full
    assert shared.split().capacity == GROWTH * READ_AHEAD_BYTES
