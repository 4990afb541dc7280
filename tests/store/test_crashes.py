"""Whatever a crash does to the file, what is found is a prefix of what was committed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbroker.store import Delete, EmbeddedStore, Listing, Put, StoreDamaged
from kbroker.store.journal import MAGIC, DecodedFile, decode_file, encode_file, encode_frame
from kbroker.store.key_space import KeySpace


def build_file() -> tuple[bytes, int, list[Listing]]:
    """A file of a dozen transactions, where its snapshot ends, and all states on the way."""
    keys = KeySpace()
    keys.write([Put("topics/first", b"{}"), Put("cluster", b"id")])
    data = bytearray(encode_file(keys))
    snapshot_end = len(data)
    states = [Listing(keys.under(""), keys.revision)]
    for number in range(12):
        writes = [Put(f"topics/{number % 3}", b"%d" % number), Put("é" * number, bytes(number))]
        if number % 4 == 3:
            writes = [Delete("topics/1"), Delete("cluster")]
        batch = keys.write(writes)
        assert batch is not None
        data += encode_frame(batch.revision, batch.events)
        states.append(Listing(keys.under(""), keys.revision))
    return bytes(data), snapshot_end, states


DATA, SNAPSHOT_END, STATES = build_file()


def state_of(found: DecodedFile) -> Listing:
    return Listing(found.keys.under(""), found.keys.revision)


def test_a_whole_file_holds_the_last_state():
    found = decode_file(DATA)

    assert state_of(found) == STATES[-1]
    assert (found.snapshot_bytes, found.sound_bytes) == (SNAPSHOT_END, len(DATA))


def test_cut_at_any_byte_a_file_holds_all_whole_transactions():
    reached = 0
    for length in range(SNAPSHOT_END, len(DATA) + 1):
        found = decode_file(DATA[:length])
        if state_of(found) != STATES[reached]:
            reached += 1
        assert state_of(found) == STATES[reached]
        assert found.sound_bytes <= length
    assert reached == len(STATES) - 1


@pytest.mark.parametrize("tail", [bytes(1), bytes(7), bytes(8), bytes(4096), b"\xff" * 100])
def test_a_tail_that_is_no_frame_is_ignored(tail):
    found = decode_file(DATA + tail)

    assert state_of(found) == STATES[-1]
    assert found.sound_bytes == len(DATA)


def test_a_frame_from_the_past_ends_the_file():
    """Bytes of an older file behind the end must not be taken for new transactions."""
    last_frame = decode_file(DATA[:-1]).sound_bytes
    old = DATA[SNAPSHOT_END:last_frame]

    assert state_of(decode_file(DATA + old)) == STATES[-1]


@pytest.mark.parametrize("bit", range(8))
def test_with_any_bit_flipped_a_file_holds_a_prefix(bit):
    for position in range(SNAPSHOT_END, len(DATA)):
        damaged = bytearray(DATA)
        damaged[position] ^= 1 << bit
        found = decode_file(bytes(damaged))
        assert state_of(found) in STATES
        assert found.sound_bytes <= position


def test_without_a_sound_snapshot_nothing_is_made_up():
    for position in range(SNAPSHOT_END):
        damaged = bytearray(DATA)
        damaged[position] ^= 0x10
        with pytest.raises(StoreDamaged):
            decode_file(bytes(damaged))
        with pytest.raises(StoreDamaged):
            decode_file(DATA[:position])


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_damage_or_a_torn_tail(data):
    for candidate in (data, MAGIC + data):
        try:
            decode_file(candidate)
        except StoreDamaged:
            continue
    assert state_of(decode_file(DATA + data)) == STATES[-1]


@pytest.mark.parametrize("length", range(len(DATA) - 60, len(DATA) + 1))
async def test_a_store_with_a_torn_tail_goes_on_writing(tmp_path, length):
    path = tmp_path / "metadata"
    path.write_bytes(DATA[:length])

    store = EmbeddedStore.open(path)
    found = await store.list("")
    assert found in STATES
    assert store.cut_bytes == length - decode_file(DATA[:length]).sound_bytes
    if store.cut_bytes:
        assert (tmp_path / "metadata.cut").stat().st_size == store.cut_bytes
    await store.txn([], [Put("after", b"the crash")])
    expected = await store.list("")
    await store.aclose()

    store = EmbeddedStore.open(path)
    assert await store.list("") == expected
    assert store.cut_bytes == 0
    await store.aclose()


@pytest.mark.parametrize("length", [0, 5, len(DATA)])
async def test_an_unfinished_rewrite_is_ignored(tmp_path, length):
    path = tmp_path / "metadata"
    path.write_bytes(DATA)
    (tmp_path / "metadata.tmp").write_bytes(DATA[:length])

    store = EmbeddedStore.open(path)

    assert await store.list("") == STATES[-1]
    await store.aclose()


WRITER = """
import sys, trio
from kbroker.store import EmbeddedStore, Put, embedded

embedded.MIN_REWRITE_BYTES = 4_000  # so that rewriting is under way at many of the kills

async def main():
    store = EmbeddedStore.open(sys.argv[1])
    found = await store.get("number")
    number = int(found.value) if found else 0
    while True:
        number += 1
        value = b"%d" % number
        third = Put(f"key/{number % 50}", value)
        await store.txn([], [Put("number", value), Put("twin", value), third])
        sys.stdout.write(f"{number}\\n")
        sys.stdout.flush()

trio.run(main)
"""


def write_until_killed(path: Path, lines: int) -> int:
    """Run a writer, kill it after ``lines`` answers, and return the last number it was answered."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    last = 0
    with process.stdout as answers:
        for _ in range(lines):
            last = int(answers.readline())
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        rest = answers.read().splitlines(keepends=True)
    return int(rest[-1]) if rest and rest[-1].endswith("\n") else last


async def test_a_killed_process_loses_nothing_it_was_answered(tmp_path):
    path = tmp_path / "metadata"
    for lines in (1, 30, 77, 110):
        answered = write_until_killed(path, lines)

        store = EmbeddedStore.open(path)
        number, twin = await store.get("number"), await store.get("twin")
        await store.aclose()

        assert number.value == twin.value
        # The last transaction may have been written and not yet answered.
        assert int(number.value) in (answered, answered + 1)
