"""UpdateFeatures (key 57): move the finalised levels of features, all or none (KIP-584)."""

from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.requests import RequestContext
from kbroker.cluster import FeatureUpdate, Refused, UpgradeType
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

_UPGRADE_TYPES = frozenset(UpgradeType)


async def handle(context: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    """Update; since nothing is done by halves, an error is one of the whole request."""
    try:
        refused = await context.broker.administration.update_features(
            [_update(update) for update in request.feature_updates],
            validate_only=request.validate_only,
        )
    except NotCarriedOut as error:
        refused = Refused(error.kafka_error, str(error))
    else:
        if refused is not None:
            message = (
                "The update failed for all features since the following feature had an error: "
                f"{refused.message}"
            )
            refused = Refused(refused.error, message)
    if refused is not None:
        return UpdateFeaturesResponse(
            error_code=ErrorCode[refused.error], error_message=refused.message
        )
    return UpdateFeaturesResponse(
        error_message=None,
        # Kafka calls the absence of an error by its name here.
        results=[
            UpdatableFeatureResult(feature=update.feature, error_message="NONE")
            for update in request.feature_updates
        ],
    )


def _update(update: FeatureUpdateKey) -> FeatureUpdate:
    """Version 0 says ``allow_downgrade`` instead of a type, which Kafka 4 does not heed."""
    known = update.upgrade_type in _UPGRADE_TYPES
    upgrade_type = UpgradeType(update.upgrade_type) if known else UpgradeType.UNKNOWN
    return FeatureUpdate(update.feature, update.max_version_level, upgrade_type)
