"""A cluster for the time of one command; what it refuses becomes the line that people read."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from kbroker.cli.errors import REFUSED, CommandError
from kbroker.client.cluster import Cluster
from kbroker.client.errors import BrokerError, ClientError


@contextmanager
def connected(arguments: Namespace) -> Iterator[Cluster]:
    """The cluster that ``--bootstrap`` names; its connections are closed in any case."""
    with Cluster(arguments.bootstrap, client_id="kbroker-cli") as cluster, refusals():
        yield cluster


@contextmanager
def refusals() -> Iterator[None]:
    """Turns a ClientError into a CommandError with the same words."""
    try:
        yield
    except ClientError as error:
        raise CommandError(str(error), REFUSED) from error


def each(names: Sequence[str], action: Callable[[str], None]) -> int:
    """Do it for every name; those that are refused get a line each, and do not stop the others.

    Gives the exit code.
    """
    exit_code = 0
    for name in names:
        try:
            action(name)
        except BrokerError as error:
            print(f"kbroker: {error}", file=sys.stderr)
            exit_code = REFUSED
    return exit_code
