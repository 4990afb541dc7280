"""WriteTxnMarkers (key 27), versions 1-2, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int8, int16, int32, int64, int_array, string


class WritableTxnMarkerTopic(Structure):
    name: str = string("0+", default="")
    partition_indexes: list[int] = int_array("int32", "0+", default=[])


class WritableTxnMarker(Structure):
    producer_id: int = int64("0+", default=0)
    producer_epoch: int = int16("0+", default=0)
    transaction_result: bool = boolean("0+", default=False)
    topics: list[WritableTxnMarkerTopic] = array(WritableTxnMarkerTopic, "0+", default=[])
    coordinator_epoch: int = int32("0+", default=0)
    transaction_version: int = int8("2+", default=0, ignorable=True)


class WriteTxnMarkersRequest(Request, api_key=27, versions="1-2", flexible="1+"):
    markers: list[WritableTxnMarker] = array(WritableTxnMarker, "0+", default=[])


class WritableTxnMarkerPartitionResult(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)


class WritableTxnMarkerTopicResult(Structure):
    name: str = string("0+", default="")
    partitions: list[WritableTxnMarkerPartitionResult] = array(
        WritableTxnMarkerPartitionResult, "0+", default=[]
    )


class WritableTxnMarkerResult(Structure):
    producer_id: int = int64("0+", default=0)
    topics: list[WritableTxnMarkerTopicResult] = array(
        WritableTxnMarkerTopicResult, "0+", default=[]
    )


class WriteTxnMarkersResponse(Response, api_key=27, versions="1-2", flexible="1+"):
    markers: list[WritableTxnMarkerResult] = array(WritableTxnMarkerResult, "0+", default=[])
