"""DescribeClientQuotas (key 48), versions 0-1, flexible from 1."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, float64, int8, int16, int32, string


class ComponentData(Structure):
    entity_type: str = string("0+", default="")
    match_type: int = int8("0+", default=0)
    match: str | None = string("0+", nullable="0+", default="")


class DescribeClientQuotasRequest(Request, api_key=48, versions="0-1", flexible="1+"):
    components: list[ComponentData] = array(ComponentData, "0+", default=[])
    strict: bool = boolean("0+", default=False)


class EntityData(Structure):
    entity_type: str = string("0+", default="")
    entity_name: str | None = string("0+", nullable="0+", default="")


class ValueData(Structure):
    key: str = string("0+", default="")
    value: float = float64("0+", default=0.0)


class EntryData(Structure):
    entity: list[EntityData] = array(EntityData, "0+", default=[])
    values: list[ValueData] = array(ValueData, "0+", default=[])


class DescribeClientQuotasResponse(Response, api_key=48, versions="0-1", flexible="1+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    entries: list[EntryData] | None = array(EntryData, "0+", nullable="0+", default=[])
