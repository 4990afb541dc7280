"""CreateAcls (key 30): allow or deny; without an authoriser each is refused: SECURITY_DISABLED."""

from kbroker.broker.requests import RequestContext
from kbroker.broker.resources import NO_AUTHORISER
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)


def begin(context: RequestContext, request: CreateAclsRequest) -> CreateAclsResponse:  # noqa: ARG001
    """Refuse every one of them."""
    return CreateAclsResponse(
        results=[
            AclCreationResult(
                error_code=ErrorCode.SECURITY_DISABLED, error_message=f"{NO_AUTHORISER}."
            )
            for _ in request.creations
        ]
    )
