"""A cluster for the time of one command; what it refuses becomes the line that people read."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from kbroker.cli.errors import REFUSED, CommandError
from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError


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
