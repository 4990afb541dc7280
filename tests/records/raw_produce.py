"""One batch to one partition, by a Produce request written by hand.

Version 7 is the last one without flexible fields that takes all compression types.
"""

import socket
from struct import Struct

_PRODUCE_V7 = b"\x00\x00\x00\x07"
_CORRELATION_ID = b"\x00\x00\x00\x2a"
_NO_CLIENT_ID = b"\xff\xff"
_NO_TRANSACTIONAL_ID = b"\xff\xff"
# index, error code, base offset, log append time, log start offset
_PARTITION_ANSWER = Struct(">ihqqq")


def produce(bootstrap: str, topic: str, records: bytes) -> tuple[int, int]:
    """The error code and the base offset that a broker answers, with acks=all."""
    host, port = bootstrap.rsplit(":", 1)
    name = len(topic).to_bytes(2, "big") + topic.encode()
    request = b"".join(
        (
            _PRODUCE_V7 + _CORRELATION_ID + _NO_CLIENT_ID + _NO_TRANSACTIONAL_ID,
            b"\xff\xff" + (30_000).to_bytes(4, "big"),  # acks=all, timeout
            b"\x00\x00\x00\x01" + name,  # one topic
            b"\x00\x00\x00\x01" + b"\x00\x00\x00\x00",  # one partition, number 0
            len(records).to_bytes(4, "big") + records,
        )
    )
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(len(request).to_bytes(4, "big") + request)
        stream = connection.makefile("rb")
        answer = stream.read(int.from_bytes(stream.read(4), "big"))
    # correlation id, one topic and its name, one partition
    position = 4 + 4 + len(name) + 4
    _, error_code, base_offset, _, _ = _PARTITION_ANSWER.unpack_from(answer, position)
    return error_code, base_offset
