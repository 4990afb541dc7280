"""EndTxn (key 26), versions 0-5, flexible from 3."""

from kbroker.wire.message import Request, Response
from kbroker.wire.notation import boolean, int16, int32, int64, string


class EndTxnRequest(Request, api_key=26, versions="0-5", flexible="3+"):
    transactional_id: str = string("0+", default="")
    producer_id: int = int64("0+", default=0)
    producer_epoch: int = int16("0+", default=0)
    committed: bool = boolean("0+", default=False)


class EndTxnResponse(Response, api_key=26, versions="0-5", flexible="3+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    producer_id: int = int64("5+", default=-1, ignorable=True)
    producer_epoch: int = int16("5+", default=-1, ignorable=True)
