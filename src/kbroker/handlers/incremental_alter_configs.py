"""IncrementalAlterConfigs (key 44): set, delete, append to or subtract from single configs."""

from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.config_administration import Alteration
from kbroker.broker.requests import RequestContext
from kbroker.cluster import Refused
from kbroker.config.alter import Change
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


async def handle(
    context: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    """Alter what can be altered; the new values count when the answer leaves."""
    alterations = [_alteration(resource) for resource in request.resources]
    results: list[Refused | None]
    try:
        results = await context.broker.administration.configs.alter(
            alterations, incremental=True, validate_only=request.validate_only
        )
    except NotCarriedOut as error:
        results = [Refused(error.kafka_error, str(error))] * len(alterations)
    return IncrementalAlterConfigsResponse(
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


def _alteration(resource: AlterConfigsResource) -> Alteration:
    changes = [
        Change(config.name, config.config_operation, config.value) for config in resource.configs
    ]
    return Alteration(resource.resource_type, resource.resource_name, changes)
