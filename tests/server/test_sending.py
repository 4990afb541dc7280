"""Bytes and file slices, through real sockets with little room."""

import os
import socket

import pytest
import trio

from kbroker.model import FileSlice
from kbroker.server.sending import (
    TURN_BYTES,
    FileTruncatedError,
    copy_parts,
    send_parts,
    size_in_memory,
    without,
)

CONTENT = os.urandom(3 << 20)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "segment"
    path.write_bytes(CONTENT)
    descriptor = os.open(path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture
def pair():
    """Two ends of a TCP connection that holds little."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ours = socket.create_connection(listening.getsockname())
        theirs, _ = listening.accept()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 20_000)
    for end in ours, theirs:
        end.setblocking(False)
    with ours, theirs:
        yield ours, theirs


async def received(sock, count):
    data = bytearray()
    with trio.fail_after(20):
        while len(data) < count:
            await trio.lowlevel.wait_readable(sock)
            data += sock.recv(1 << 16)
    return bytes(data)


async def send_all(sock, parts):
    """Send as a connection does: wait if the socket is full, otherwise go on."""
    blocked = False
    while parts:
        if blocked:
            await trio.lowlevel.wait_writable(sock)
        parts, blocked = send_parts(sock, parts)


def as_bytes(parts):
    return b"".join(
        CONTENT[part.position : part.position + part.length]
        if isinstance(part, FileSlice)
        else bytes(part)
        for part in parts
    )


def mixed_parts(file):
    return [
        b"head",
        bytearray(b"er"),
        FileSlice(file, 5, 100_000),
        FileSlice(file, 77, 500),
        memoryview(b"between"),
        b"",
        FileSlice(file, 0, 0),
        FileSlice(file, 2_000_000, 1_000_000),
        b"x" * 300_000,
        b"end",
    ]


async def test_bytes_and_slices_arrive_in_order_through_a_socket_with_little_room(pair, file):
    ours, theirs = pair
    parts = mixed_parts(file)
    expected = as_bytes(parts)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(send_all, ours, parts)
        assert await received(theirs, len(expected)) == expected


async def test_more_pieces_than_the_kernel_takes_at_once_arrive(pair):
    ours, theirs = pair
    parts = [str(number).encode() for number in range(3000)]
    expected = b"".join(parts)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(send_all, ours, parts)
        assert await received(theirs, len(expected)) == expected


@pytest.mark.parametrize("room_bytes", [1000, 65_536, 2_000_000])
def test_parts_that_must_be_encrypted_are_copied_a_piece_at_a_time(file, room_bytes):
    parts = mixed_parts(file)
    expected = as_bytes(parts)
    room, copied = memoryview(bytearray(room_bytes)), bytearray()
    while count := copy_parts(parts, room):
        # Of what was copied only a part may leave.
        sent = max(1, count - 7)
        copied += room[:sent]
        parts = without(parts, sent)
    assert copied == expected


def test_nothing_is_left_of_parts_that_are_empty():
    assert without([b"a", b"", memoryview(b"")], 1) == []


def test_what_the_socket_does_not_take_is_given_back(pair, file):
    ours, _ = pair
    parts = [b"a", FileSlice(file, 0, len(CONTENT)), b"z"]
    left, blocked = send_parts(ours, parts)
    assert blocked
    assert isinstance(left[0], FileSlice)
    assert left[0].position > 0
    assert left[0].position + left[0].length == len(CONTENT)
    assert left[1:] == [b"z"]


def test_one_call_sends_no_more_than_a_turn(file):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for end in ours, theirs:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
        ours.setblocking(False)
        left, blocked = send_parts(ours, [FileSlice(file, 0, len(CONTENT))])
    assert not blocked
    assert sum(map(len, left)) >= len(CONTENT) - TURN_BYTES


def test_a_file_that_ends_too_early_is_an_error(pair, file):
    ours, _ = pair
    with pytest.raises(FileTruncatedError):
        send_parts(ours, [FileSlice(file, len(CONTENT), 1)])


def test_a_file_that_ends_too_early_is_an_error_where_it_is_copied_too(file):
    with pytest.raises(FileTruncatedError):
        copy_parts([FileSlice(file, len(CONTENT) - 1, 2)], memoryview(bytearray(10)))


def test_slices_take_no_memory(file):
    assert size_in_memory([b"abc", FileSlice(file, 0, 1 << 20), memoryview(b"de")]) == 5
