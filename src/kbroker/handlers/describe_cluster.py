"""DescribeCluster (key 60): the cluster's id, its controller and its brokers (KIP-700)."""

from kbroker.broker.requests import RequestContext
from kbroker.broker.resources import CLUSTER_OPERATIONS
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

# Whom clients speak to (KIP-919).
_BROKERS = 1
_CONTROLLERS = 2
# Kafka answers so where it does not know the controller, or cannot tell where it is.
_NO_CONTROLLER = -1


def begin(context: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    """Describe the cluster as clients of this listener reach it.

    A broker that is fenced is not in the image, so there is none to include (KIP-1073).
    """
    if request.endpoint_type == _CONTROLLERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of type BROKER, "
            "but we wanted an endpoint of type CONTROLLER",
        )
    if request.endpoint_type != _BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message=f"Unsupported endpoint type {request.endpoint_type}",
        )
    image = context.broker.image
    response = DescribeClusterResponse(
        cluster_id=image.cluster_id or "",
        brokers=[
            DescribeClusterBroker(broker_id=node_id, host=host, port=port, rack=rack)
            for node_id, host, port, rack in context.broker.endpoints(context.connection.listener)
        ],
    )
    known = {broker.broker_id for broker in response.brokers}
    response.controller_id = image.controller_id if image.controller_id in known else _NO_CONTROLLER
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    return response
