"""DescribeGroups (key 15): the state and the members of classic groups."""

from kbroker.broker.requests import RequestContext
from kbroker.broker.resources import GROUP_OPERATIONS
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)


def begin(context: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    """Each group has an answer of its own."""
    groups = context.broker.groups
    caller = groups.caller(context)
    described = []
    for group_id in request.groups:
        driver = groups.driver_of(group_id)
        if isinstance(driver, ErrorCode):
            group = DescribedGroup(group_id=group_id, error_code=driver)
        else:
            group = driver.shard.describe_group(group_id, caller)
        if request.include_authorized_operations and not group.error_code:
            group.authorized_operations = GROUP_OPERATIONS
        described.append(group)
    return DescribeGroupsResponse(groups=described)
