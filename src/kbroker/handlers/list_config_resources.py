"""ListConfigResources (key 74): the names of all that has configs (KIP-1142)."""

from kbroker.broker.config_administration import ResourceKind
from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_KINDS = frozenset(ResourceKind)
# Version 0 was ListClientMetricsResources (KIP-714), and lists nothing else.
_ONLY_CLIENT_METRICS_VERSION = 0


def begin(
    context: RequestContext, request: ListConfigResourcesRequest
) -> ListConfigResourcesResponse:
    """List the resources of the types asked for, or of all of them."""
    kinds = request.resource_types
    if context.api_version == _ONLY_CLIENT_METRICS_VERSION:
        kinds = [ResourceKind.CLIENT_METRICS]
    elif not kinds:
        kinds = list(ResourceKind)
    if not _KINDS.issuperset(kinds):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    configs = context.broker.administration.configs
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in dict.fromkeys(kinds)
            for name in configs.resources(ResourceKind(kind))
        ]
    )
