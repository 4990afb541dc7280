"""Waiting for a decision to be carried out, but no longer than the client wants to."""

import math
from collections.abc import Callable
from typing import ClassVar, TypeVar

import trio

from kbroker.broker.control import Control, ControlError, NotStored
from kbroker.cluster import ClusterImage, Decision

Results = TypeVar("Results")


class NotCarriedOut(Exception):  # noqa: N818 - what the client is told, not a failure of ours
    """A change was not made in time, or cannot be made now.

    It may be made all the same, later: the control loop does not drop what it has begun.
    """

    kafka_error: ClassVar[str] = "REQUEST_TIMED_OUT"


class CannotBeStored(NotCarriedOut):
    """The metadata store refused the change; a client tries this error again."""

    kafka_error: ClassVar[str] = "KAFKA_STORAGE_ERROR"


async def carry_out(
    control: Control,
    decide: Callable[[ClusterImage], Decision[Results]],
    deadline: float = math.inf,
) -> Results:
    """The results of a decision, once the image shows them; NotCarriedOut after ``deadline``.

    A deadline that has passed already means that nothing is decided at all. So a timeout of 0,
    which older brokers took for "do not wait", is answered as Kafka 4 does.
    """
    if deadline <= trio.current_time():
        raise NotCarriedOut("The request timed out before it was begun.")
    with trio.move_on_at(deadline):
        try:
            return await control.decide(decide)
        except NotStored as error:
            raise CannotBeStored(str(error)) from error
        except ControlError as error:
            raise NotCarriedOut(str(error)) from error
    raise NotCarriedOut("The request timed out before it was carried out.")
