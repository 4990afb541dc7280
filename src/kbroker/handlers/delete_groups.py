"""DeleteGroups (key 42): forget groups that nobody is a member of, with their offsets."""

from kbroker.broker.gathering import gather
from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def begin(
    context: RequestContext, request: DeleteGroupsRequest
) -> DeleteGroupsResponse | Later[DeleteGroupsResponse]:
    """Each group has an answer of its own."""
    names = dict.fromkeys(request.groups_names)
    answers = [_delete(context, group_id) for group_id in names]
    return gather(answers, lambda results: DeleteGroupsResponse(results=results))


def _delete(
    context: RequestContext, group_id: str
) -> DeletableGroupResult | Later[DeletableGroupResult]:
    def refuse(error: ErrorCode) -> DeletableGroupResult:
        return DeletableGroupResult(group_id=group_id, error_code=error)

    return context.broker.groups.perform(
        group_id, lambda shard, ticket: shard.delete_group(group_id, ticket), refuse
    )
