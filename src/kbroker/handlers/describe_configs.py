"""DescribeConfigs (key 32): every config of a resource, its value, and where that comes from.

Tools that mirror clusters ask for all topics at once. That is a quarter of a millisecond for each,
so others get their turn in between.
"""

import trio

from kbroker.broker.config_administration import ResourceKind
from kbroker.broker.requests import RequestContext
from kbroker.cluster import Refused
from kbroker.config.describe import DescribedConfig
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

_KINDS = frozenset(ResourceKind)
# After so many resources others may run: a topic's 33 configs take as long as some ten requests.
_RESOURCES_PER_STEP = 10


async def handle(
    context: RequestContext, request: DescribeConfigsRequest
) -> DescribeConfigsResponse:
    """Describe every resource. One of an unknown type spoils the whole request, as in Kafka."""
    unknown = next((one for one in request.resources if one.resource_type not in _KINDS), None)
    if unknown is not None:
        refused = Refused(
            "INVALID_REQUEST",
            f"Unexpected resource type {unknown.resource_type} "
            f"for resource {unknown.resource_name}",
        )
        return DescribeConfigsResponse(
            results=[_refusal(resource, refused) for resource in request.resources]
        )
    response = DescribeConfigsResponse()
    for number, resource in enumerate(request.resources):
        if number % _RESOURCES_PER_STEP == 0:
            await trio.lowlevel.checkpoint()
        response.results.append(_describe(context, request, resource))
    return response


def _describe(
    context: RequestContext, request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    described = context.broker.administration.configs.describe(
        ResourceKind(resource.resource_type), resource.resource_name, resource.configuration_keys
    )
    if isinstance(described, Refused):
        return _refusal(resource, described)
    return DescribeConfigsResult(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[_config(request, config) for config in described],
    )


def _refusal(resource: DescribeConfigsResource, refused: Refused) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=ErrorCode[refused.error],
        error_message=refused.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


def _config(
    request: DescribeConfigsRequest, config: DescribedConfig
) -> DescribeConfigsResourceResult:
    result = DescribeConfigsResourceResult(
        name=config.name,
        value=config.value,
        read_only=config.read_only,
        config_source=config.source,
        is_sensitive=config.sensitive,
        config_type=config.type,
        documentation=config.documentation if request.include_documentation else None,
    )
    if request.include_synonyms:
        result.synonyms = [
            DescribeConfigsSynonym(name=one.name, value=one.value, source=one.source)
            for one in config.synonyms
        ]
    return result
