"""Keeps the records; no answer with acks=0; hangs up if there are no topics."""

from kbroker.broker.requests import CloseConnection
from kbroker.wire.messages.produce import ProduceResponse


def begin(context, request):
    if not request.topic_data:
        raise CloseConnection("nothing to produce")
    for topic in request.topic_data:
        for partition in topic.partition_data:
            context.broker.produced.append(bytes(partition.records))
    return ProduceResponse(throttle_time_ms=7) if request.acks else None
