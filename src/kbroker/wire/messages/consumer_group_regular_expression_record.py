"""ConsumerGroupRegularExpression, a record of an internal topic (type 16).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord
from kbroker.wire.notation import int64, string, string_array


class ConsumerGroupRegularExpressionKey(
    StoredRecord, record_type=16, versions="0", flexible="none"
):
    group_id: str = string("0", default="")
    regular_expression: str = string("0", default="")


class ConsumerGroupRegularExpressionValue(
    StoredRecord, record_type=16, versions="0", flexible="0+"
):
    topics: list[str] = string_array("0+", default=[])
    version: int = int64("0+", default=0)
    timestamp: int = int64("0+", default=0)
