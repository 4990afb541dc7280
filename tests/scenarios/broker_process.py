"""A broker for tests that kill it, with what they look at in its files.

All that starts and stops it is `kbroker.testing.BrokerProcess`. Leaving a ``with`` kills what still
runs, because many of these tests leave it with broken files: who wants a good end says `stop`.
"""

from types import TracebackType

from kbroker.testing import process


class BrokerProcess(process.BrokerProcess):
    """See the top of the file."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        super().__exit__(kind, error, trace)
