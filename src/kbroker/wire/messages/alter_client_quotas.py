"""AlterClientQuotas (key 49), versions 0-1, flexible from 1."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, float64, int16, int32, string


class RequestEntityData(Structure):
    entity_type: str = string("0+", default="")
    entity_name: str | None = string("0+", nullable="0+", default="")


class OpData(Structure):
    key: str = string("0+", default="")
    value: float = float64("0+", default=0.0)
    remove: bool = boolean("0+", default=False)


class RequestEntryData(Structure):
    entity: list[RequestEntityData] = array(RequestEntityData, "0+", default=[])
    ops: list[OpData] = array(OpData, "0+", default=[])


class AlterClientQuotasRequest(Request, api_key=49, versions="0-1", flexible="1+"):
    entries: list[RequestEntryData] = array(RequestEntryData, "0+", default=[])
    validate_only: bool = boolean("0+", default=False)


class ResponseEntityData(Structure):
    entity_type: str = string("0+", default="")
    entity_name: str | None = string("0+", nullable="0+", default="")


class ResponseEntryData(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    entity: list[ResponseEntityData] = array(ResponseEntityData, "0+", default=[])


class AlterClientQuotasResponse(Response, api_key=49, versions="0-1", flexible="1+"):
    throttle_time_ms: int = int32("0+", default=0)
    entries: list[ResponseEntryData] = array(ResponseEntryData, "0+", default=[])
