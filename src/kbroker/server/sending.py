"""Parts of answers to bytes on the wire: as few system calls as possible, and no large copy.

An answer is a list of parts. Bytes that follow one another leave with one `sendmsg`; pieces of
files leave with `sendfile`, and the bytes before one with MSG_MORE, so that the kernel puts both
into the same segments. A small piece is read and leaves with the bytes around it. Nothing here
waits: what the socket does not take now is given back.

Where bytes are encrypted there is no sendfile: `copy_parts` brings them into memory, a piece at a
time.
"""

import os
import socket

from kbroker.model import FileSlice
from kbroker.wire import Part

# One call sends at most this much, then others get their turn: a client on the same machine can
# drain a socket as fast as we fill it, and would keep the loop for itself.
TURN_BYTES = 1 << 20

# To read so little costs less than a sendfile of it, which costs as much as a small request.
SMALL_SLICE_BYTES = 1 << 13
# The kernel takes at most this many pieces at once (IOV_MAX).
_MAX_PIECES = 1024


class FileTruncatedError(Exception):
    """A file ended before the piece of it that an answer has announced.

    The frame's length has left already, so the answer cannot be mended: the connection must end.
    """


def send_parts(sock: socket.socket, parts: list[Part]) -> tuple[list[Part], bool]:
    """Send what ``sock`` takes now, at most about `TURN_BYTES`.

    Gives what is left, and whether the socket is full; only an EAGAIN is taken as a sign of that,
    because epoll tells that a socket takes bytes again only if it has said that it does not.

    ``sock`` is a non-blocking TCP socket. FileTruncatedError if a file is shorter than promised,
    OSError if the connection is gone.
    """
    parts = [
        _read_slice(part)
        if isinstance(part, FileSlice) and part.length <= SMALL_SLICE_BYTES
        else part
        for part in parts
    ]
    index, count = 0, len(parts)
    budget = TURN_BYTES
    while index < count:
        if budget <= 0:
            return parts[index:], False
        part = parts[index]
        try:
            if isinstance(part, FileSlice):
                sent = _send_slice(sock, part, budget)
                stop = index + 1
            else:
                stop = _end_of_bytes(parts, index)
                sent = _send_bytes(sock, parts, index, stop)
        except BlockingIOError:
            return parts[index:], True
        budget -= sent
        while index < stop and sent >= len(parts[index]):
            sent -= len(parts[index])
            index += 1
        if index < stop and sent:
            parts = [_without(parts[index], sent), *parts[index + 1 :]]
            index, count = 0, len(parts)
    return [], False


def copy_parts(parts: list[Part], room: memoryview) -> int:
    """Copy the first bytes of ``parts`` into ``room``, as many as fit; gives how many.

    For connections on which every byte must be encrypted. Files are read right into the room.
    FileTruncatedError as in `send_parts`.
    """
    filled, capacity = 0, len(room)
    for part in parts:
        if filled == capacity:
            break
        wanted = min(len(part), capacity - filled)
        if isinstance(part, FileSlice):
            end = filled + wanted
            position = part.position
            while filled < end:
                count = os.preadv(part.file_descriptor, [room[filled:end]], position)
                if not count:
                    raise FileTruncatedError(f"the file ends at byte {position}")
                filled += count
                position += count
        else:
            room[filled : filled + wanted] = memoryview(part)[:wanted]
            filled += wanted
    return filled


def without(parts: list[Part], sent: int) -> list[Part]:
    """What is left of ``parts`` when their first ``sent`` bytes are gone."""
    for index, part in enumerate(parts):
        if sent < len(part):
            return [_without(part, sent) if sent else part, *parts[index + 1 :]]
        sent -= len(part)
    return []


def size_in_memory(parts: list[Part]) -> int:
    """How many bytes an answer holds in memory; pieces of files hold none."""
    return sum(len(part) for part in parts if not isinstance(part, FileSlice))


def _end_of_bytes(parts: list[Part], start: int) -> int:
    stop = start + 1
    limit = min(len(parts), start + _MAX_PIECES)
    while stop < limit and not isinstance(parts[stop], FileSlice):
        stop += 1
    return stop


def _send_bytes(sock: socket.socket, parts: list[Part], start: int, stop: int) -> int:
    flags = socket.MSG_MORE if stop < len(parts) else 0
    pieces = parts[start:stop]
    if len(pieces) == 1:
        return sock.send(pieces[0], flags)  # type: ignore[arg-type]  # no slices in between
    return sock.sendmsg(pieces, (), flags)  # type: ignore[arg-type]


def _send_slice(sock: socket.socket, part: FileSlice, budget: int) -> int:
    wanted = min(part.length, budget)
    if not wanted:
        return 0
    sent = os.sendfile(sock.fileno(), part.file_descriptor, part.position, wanted)
    if not sent:
        raise FileTruncatedError(f"the file ends at byte {part.position}")
    return sent


def _read_slice(part: FileSlice) -> bytes:
    data = os.pread(part.file_descriptor, part.length, part.position)
    if len(data) < part.length:
        raise FileTruncatedError(f"the file ends at byte {part.position + len(data)}")
    return data


def _without(part: Part, sent: int) -> Part:
    """What is left of ``part`` when its first ``sent`` bytes are gone."""
    if isinstance(part, FileSlice):
        return FileSlice(
            part.file_descriptor, part.position + sent, part.length - sent, part.keeper
        )
    return memoryview(part)[sent:]
