"""ListTransactions (key 66), versions 0-2, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, int_array, string, string_array


class ListTransactionsRequest(Request, api_key=66, versions="0-2", flexible="0+"):
    state_filters: list[str] = string_array("0+", default=[])
    producer_id_filters: list[int] = int_array("int64", "0+", default=[])
    duration_filter: int = int64("1+", default=-1)
    transactional_id_pattern: str | None = string("2+", nullable="2+", default=None)


class TransactionState(Structure):
    transactional_id: str = string("0+", default="")
    producer_id: int = int64("0+", default=0)
    transaction_state: str = string("0+", default="")


class ListTransactionsResponse(Response, api_key=66, versions="0-2", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    unknown_state_filters: list[str] = string_array("0+", default=[])
    transaction_states: list[TransactionState] = array(TransactionState, "0+", default=[])
