"""When to try again and when to give up.

A cluster is never quite still: leaders move, new topics take a moment to reach every broker,
brokers restart. What Kafka calls retriable is tried again for a bounded time, with pauses that
grow; everything else is the caller's to know at once. An unknown topic is both: new, or misspelt.
It gets a patience of its own, so that a typing error does not take half a minute.
"""

import time

from kbroker.client.errors import BrokerError, ClientError, ConnectionFailed, NoSuchPartition
from kbroker.wire import ErrorCode

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0

_MAYBE_NEW = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})


class Retries:
    """The attempts at one thing, for ``timeout_s`` from now on."""

    def __init__(self, timeout_s: float, *, unknown_topic_s: float = 0.0) -> None:
        now = time.monotonic()
        self._deadline = now + timeout_s
        self._unknown_topic_deadline = now + min(timeout_s, unknown_topic_s)
        self._pause_s = _FIRST_PAUSE_S

    def wait_or_raise(self, error: ClientError) -> None:
        """Pause before the next attempt; raises ``error`` if there is none."""
        deadline = self._deadline
        if isinstance(error, NoSuchPartition):
            raise error
        if isinstance(error, BrokerError):
            if error.code in _MAYBE_NEW:
                deadline = self._unknown_topic_deadline
            elif not error.code.retriable:
                raise error
        elif not isinstance(error, ConnectionFailed):
            raise error
        if time.monotonic() + self._pause_s > deadline:
            raise error
        time.sleep(self._pause_s)
        self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
