"""Why a group refuses a request: an error code, and a sentence for the log of the client.

It is raised deep inside a decision, before anything was changed, and caught where
the request came in. It never leaves the package.
"""

from kbroker.wire import ErrorCode


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
