"""kbroker produce: every line of standard input or of a file becomes a record.

Lines are bytes; nothing decodes them. What has been read is written when the input pauses, so that
a person sees a line arrive after typing it, and a file travels in full batches.
"""

import argparse
import os
import select
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from typing import BinaryIO

from kbroker.cli.arguments import add_bootstrap, compression, partition, separator, setting
from kbroker.cli.connected import connected
from kbroker.cli.errors import CommandError
from kbroker.client.producing import Producer
from kbroker.records import Compression

_READ_BYTES = 64 * 1024
# An input that brings nothing for so long has paused.
_PAUSE_S = 0.005
# A line longer than this is no line; brokers refuse records of a megabyte by default.
_MAX_LINE_BYTES = 64 * 1024 * 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument(
        "--key-separator",
        metavar="SEP",
        type=separator,
        help=r"what stands between key and value (\t is a tab); without it records have no keys",
    )
    parser.add_argument(
        "--null", metavar="TEXT", help="a key or value that is just this text is null"
    )
    parser.add_argument("--file", metavar="F", help="read this file instead of standard input")
    parser.add_argument("--partition", metavar="P", type=partition, help="write to this one alone")
    parser.add_argument(
        "--compression",
        metavar="TYPE",
        type=compression,
        default=Compression.NONE,
        help="none, gzip, snappy, lz4 or zstd (default: none)",
    )
    parser.add_argument("--header", metavar="NAME=VALUE", type=setting, action="append", default=[])
    add_bootstrap(parser)


def run(arguments: Namespace) -> int:
    """Read to the end of the input."""
    headers = tuple((name, value.encode(*_AS_GIVEN)) for name, value in arguments.header)
    with _opened(arguments.file) as source, connected(arguments) as cluster:
        producer = Producer(
            cluster,
            arguments.topic,
            partition=arguments.partition,
            compression=arguments.compression,
        )
        number = 0
        try:
            for line in read_lines(source.fileno()):
                if line is None:
                    producer.flush()
                    continue
                number += 1
                key, value = split_line(line, arguments.key_separator, arguments.null, number)
                producer.send(key, value, headers)
        finally:
            # Lines before a bad one, or before Ctrl-C, were meant to be written.
            producer.flush()
    return 0


# Arguments that are no UTF-8 reach Python as lone surrogates, and leave it as they came.
_AS_GIVEN = ("utf-8", "surrogateescape")


def split_line(
    line: bytes, key_separator: str | None, null: str | None, number: int
) -> tuple[bytes | None, bytes | None]:
    """The key and the value of a line; CommandError if there should be a separator and is none."""
    key: bytes | None = None
    value: bytes | None = line
    if key_separator is not None:
        key, found, value = line.partition(key_separator.encode(*_AS_GIVEN))
        if not found:
            raise CommandError(f"line {number} has no separator {key_separator!r}")
    if null is not None:
        marker = null.encode(*_AS_GIVEN)
        key = None if key == marker else key
        value = None if value == marker else value
    return key, value


def read_lines(descriptor: int) -> Iterator[bytes | None]:
    """The lines of a file without their ends; None whenever the input has paused.

    The end of a line is a newline, with or without a carriage return before it. A last line may
    lack it.
    """
    rest = b""
    paused = True
    while True:
        if not paused and not select.select([descriptor], [], [], _PAUSE_S)[0]:
            paused = True
            yield None
        data = os.read(descriptor, _READ_BYTES)
        paused = False
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > _MAX_LINE_BYTES:
            raise CommandError(f"a line is longer than {_MAX_LINE_BYTES} bytes")
        for line in lines:
            yield line.removesuffix(b"\r")
    if rest:
        yield rest


def _opened(path: str | None) -> AbstractContextManager[BinaryIO]:
    if path is None:
        return nullcontext(sys.stdin.buffer)
    try:
        return closing(open(path, "rb"))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
