"""AddOffsetsToTxn (key 25), versions 0-4, flexible from 3."""

from kbroker.wire.message import Request, Response
from kbroker.wire.notation import int16, int32, int64, string


class AddOffsetsToTxnRequest(Request, api_key=25, versions="0-4", flexible="3+"):
    transactional_id: str = string("0+", default="")
    producer_id: int = int64("0+", default=0)
    producer_epoch: int = int16("0+", default=0)
    group_id: str = string("0+", default="")


class AddOffsetsToTxnResponse(Response, api_key=25, versions="0-4", flexible="3+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
