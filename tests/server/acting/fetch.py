"""Answers with the slices that lie ready, one for each partition."""

from kbroker.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData


def begin(context, request):
    partitions = [
        PartitionData(partition_index=number, records=each)
        for number, each in enumerate(context.broker.slices)
    ]
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=partitions)])
