"""An array that is not read yet cannot be told from a list."""

import copy
from collections.abc import Callable

import pytest

from kbroker.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kbroker.wire.unread import Structures, UnreadStructures

VERSION = 12
COUNT = 6


def partition(number: int) -> FetchPartition:
    return FetchPartition(partition=number, fetch_offset=100 + number, partition_max_bytes=1000)


PLAIN = [partition(number) for number in range(COUNT)]
FIRST, OTHER = partition(0), partition(99)


def unread() -> list[FetchPartition]:
    """The partitions of a fetch that was just decoded."""
    request = FetchRequest(topics=[FetchTopic(topic="t", partitions=list(PLAIN))])
    (topic,) = FetchRequest.decode(request.encode_bytes(VERSION), VERSION).topics
    assert type(topic.partitions) is UnreadStructures
    return topic.partitions


def number_of(one: FetchPartition) -> int:
    return one.partition


LOOKS: list[Callable[[list[FetchPartition]], object]] = [
    lambda array: array[0],
    lambda array: array[1:3],
    lambda array: [*array],
    list,
    tuple,
    lambda array: list(reversed(array)),
    lambda array: sorted(array, key=number_of, reverse=True),
    lambda array: FIRST in array,
    lambda array: OTHER in array,
    lambda array: array == PLAIN,
    lambda array: PLAIN == array,  # noqa: SIM300 - the list asks first
    lambda array: array != PLAIN,
    len,
    bool,
    lambda array: array + [OTHER],  # noqa: RUF005 - the sum is what is tried
    lambda array: [OTHER] + array,  # noqa: RUF005
    lambda array: array * 2,
    lambda array: 2 * array,
    lambda array: array.index(FIRST),
    lambda array: array.count(FIRST),
    lambda array: array.copy(),
    copy.copy,
    copy.deepcopy,
    lambda array: [one.fetch_offset for one in array],
    lambda array: dict(enumerate(array)),
]


@pytest.mark.parametrize("look", LOOKS)
def test_looking_at_an_unread_array_gives_what_a_list_gives(
    look: Callable[[list[FetchPartition]], object],
):
    assert look(unread()) == look(list(PLAIN))
    assert repr(look(unread())) == repr(look(list(PLAIN)))


CHANGES: list[Callable[[list[FetchPartition]], object]] = [
    lambda array: array.append(OTHER),
    lambda array: array.extend([OTHER, FIRST]),
    lambda array: array.insert(0, OTHER),
    lambda array: array.__setitem__(0, OTHER),
    lambda array: array.__delitem__(slice(2)),
    lambda array: array.__iadd__([OTHER]),
    lambda array: array.__imul__(2),
    lambda array: array.pop(),
    lambda array: array.remove(FIRST),
    lambda array: array.reverse(),
    lambda array: array.sort(key=number_of, reverse=True),
    lambda array: array.clear(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_changing_an_unread_array_changes_it_as_a_list(
    change: Callable[[list[FetchPartition]], object],
):
    array, plain = unread(), list(PLAIN)
    assert change(array) == change(plain)
    assert type(array) is Structures
    assert list(array) == plain


def test_all_that_a_list_can_do_reads_first():
    """A method that a later Python adds to lists must not show an empty one."""
    about_the_object = {
        *("__new__", "__init__", "__getattribute__", "__hash__", "__doc__", "__class_getitem__")
    }
    assert vars(list).keys() - about_the_object <= vars(UnreadStructures).keys()


def test_the_length_is_known_without_reading():
    array = unread()
    assert len(array) == COUNT
    assert type(array) is UnreadStructures


def test_an_array_with_a_tag_somewhere_is_read_at_once():
    request = FetchRequest(topics=[FetchTopic(topic="t", partitions=[*PLAIN, OTHER])])
    encoded = bytearray(request.encode_bytes(VERSION))
    # Behind the last partition: its tags, those of the topic, no forgotten topics, no rack, tags.
    assert encoded[-5:] == b"\x00\x00\x01\x01\x00"
    encoded[-5:-4] = b"\x01\x63\x02ab"  # one tag, number 99, of two bytes
    (topic,) = FetchRequest.decode(encoded, VERSION).topics
    assert type(topic.partitions) is list
    assert topic.partitions == [*PLAIN, OTHER]


def test_what_was_read_is_encoded_again_as_it_came():
    request = FetchRequest(topics=[FetchTopic(topic="t", partitions=list(PLAIN))])
    encoded = request.encode_bytes(VERSION)
    assert FetchRequest.decode(encoded, VERSION).encode_bytes(VERSION) == encoded
