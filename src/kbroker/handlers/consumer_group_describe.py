"""ConsumerGroupDescribe (key 69): the state and the members of consumer groups (KIP-848)."""

from kbroker.broker.requests import RequestContext
from kbroker.broker.resources import GROUP_OPERATIONS
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)


def begin(
    context: RequestContext, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    """Each group has an answer of its own."""
    groups = context.broker.groups
    described = []
    for group_id in request.group_ids:
        driver = groups.driver_of(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        if isinstance(driver, ErrorCode):
            group = DescribedGroup(group_id=group_id, error_code=driver)
        else:
            group = driver.shard.consumer_group_describe(group_id)
        if request.include_authorized_operations and not group.error_code:
            group.authorized_operations = GROUP_OPERATIONS
        described.append(group)
    return ConsumerGroupDescribeResponse(groups=described)
