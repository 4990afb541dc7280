"""AlterConfigs (key 33): replace all that resources set; what is not named is taken away.

Kafka wants clients to use IncrementalAlterConfigs instead, but older ones know only this.
"""

from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.config_administration import Alteration
from kbroker.broker.requests import RequestContext
from kbroker.cluster import Refused
from kbroker.config.alter import replacement
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


async def handle(context: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    """Replace what can be replaced; the new values count when the answer leaves."""
    alterations = [
        Alteration(
            resource.resource_type,
            resource.resource_name,
            replacement((config.name, config.value) for config in resource.configs),
        )
        for resource in request.resources
    ]
    results: list[Refused | None]
    try:
        results = await context.broker.administration.configs.alter(
            alterations, incremental=False, validate_only=request.validate_only
        )
    except NotCarriedOut as error:
        results = [Refused(error.kafka_error, str(error))] * len(alterations)
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=ErrorCode.NONE if result is None else ErrorCode[result.error],
                error_message=None if result is None else result.message,
                resource_type=alteration.kind,
                resource_name=alteration.name,
            )
            for alteration, result in zip(alterations, results, strict=True)
        ]
    )
