"""DeleteAcls (key 31): take rules away; without an authoriser all get SECURITY_DISABLED."""

from kbroker.broker.requests import RequestContext
from kbroker.broker.resources import NO_AUTHORISER
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)


def begin(context: RequestContext, request: DeleteAclsRequest) -> DeleteAclsResponse:  # noqa: ARG001
    """Refuse every filter."""
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(
                error_code=ErrorCode.SECURITY_DISABLED, error_message=f"{NO_AUTHORISER}."
            )
            for _ in request.filters
        ]
    )
