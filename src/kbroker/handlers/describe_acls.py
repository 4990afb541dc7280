"""DescribeAcls (key 29): who may do what; without an authoriser the answer is SECURITY_DISABLED.

MirrorMaker and user interfaces ask first and do without on this very error.
"""

from kbroker.broker.requests import RequestContext
from kbroker.broker.resources import NO_AUTHORISER
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


def begin(context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:  # noqa: ARG001
    """Nothing can be told."""
    return DescribeAclsResponse(
        error_code=ErrorCode.SECURITY_DISABLED, error_message=f"{NO_AUTHORISER} on the broker"
    )
