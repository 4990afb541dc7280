"""Why a log did not do what was asked, in the words of the protocol.

The packages below name Kafka's error codes without knowing the wire; here the names become codes.
Handlers catch `REFUSED` and ask `why`.
"""

from typing import Final, NamedTuple

from kbroker.log import LogError, RecordError, RecordsRefused
from kbroker.records import RecordsError
from kbroker.wire.error_codes import ErrorCode

REFUSED: Final = (LogError, RecordsError)


class Refusal(NamedTuple):
    """An error code, words for people, and the records that are to blame, if single ones are."""

    error: ErrorCode
    message: str
    record_errors: tuple[RecordError, ...] = ()


def why(refused: LogError | RecordsError) -> Refusal:
    """What to answer after ``refused`` was raised."""
    record_errors = refused.record_errors if isinstance(refused, RecordsRefused) else ()
    return Refusal(ErrorCode[refused.kafka_error], str(refused), record_errors)
