"""Many waits for the disk at once.

Opening and closing a log waits for the disk several times. The waits of many logs overlap: a file
system writes its journal once for all who wait for it.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# More do not help: the journal is written by one.
_THREADS = 16


def in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """``work`` on every item, in threads; all are done when it returns or raises.

    Raises what the first item that failed raised. Called in a thread itself, or after the loop.
    """
    todo = list(items)
    if len(todo) < 2:
        return [work(item) for item in todo]
    with ThreadPoolExecutor(min(_THREADS, len(todo)), "kbroker-disk") as threads:
        return list(threads.map(work, todo))
