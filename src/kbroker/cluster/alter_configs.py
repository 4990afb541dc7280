"""AlterConfigs and IncrementalAlterConfigs, their last step: store the overrides of resources.

What the new overrides are, and whether they are valid, `kbroker.config` has said before.
"""

from collections.abc import Mapping

from kbroker.cluster.change import (
    Change,
    Decision,
    DeleteKey,
    Expectation,
    KeyMissing,
    KeyModifiedAt,
    KeyWrite,
    PutKey,
    Refused,
)
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.image_parts import NO_CONFIGS
from kbroker.cluster.keys import ConfigResource, ResourceType, config_key
from kbroker.cluster.values import ConfigsValue


def check_resource(image: ClusterImage, resource: ConfigResource) -> Refused | None:
    """Why this resource can have no overrides; None if it can.

    Groups and client metrics exist as soon as somebody configures them.
    """
    if resource.type is ResourceType.TOPIC and resource.name not in image.topics:
        return Refused("UNKNOWN_TOPIC_OR_PARTITION", f"The topic '{resource.name}' does not exist.")
    if resource.type is ResourceType.BROKER and resource.name:
        try:
            node_id = int(resource.name)
        except ValueError:
            return Refused("INVALID_REQUEST", f"Invalid broker name {resource.name}")
        if node_id not in image.brokers:
            return Refused("BROKER_ID_NOT_REGISTERED", f"No node with id {node_id} found.")
    return None


def alter_configs(
    image: ClusterImage,
    overrides: Mapping[ConfigResource, Mapping[str, str]],
    *,
    fence: Expectation,
    validate_only: bool = False,
) -> Decision[dict[ConfigResource, Refused | None]]:
    """Give each resource exactly these overrides; none at all deletes its key.

    The change expects that nobody altered the same resource since ``image``: the overrides were
    made from the ones in it.
    """
    results: dict[ConfigResource, Refused | None] = {}
    expectations: list[Expectation] = [fence]
    writes: list[KeyWrite] = []
    for resource, configs in overrides.items():
        results[resource] = check_resource(image, resource)
        if results[resource] is not None or configs == image.configs.get(resource, NO_CONFIGS):
            continue
        key = config_key(resource)
        revision = image.key_revision(key)
        expectations.append(KeyMissing(key) if revision is None else KeyModifiedAt(key, revision))
        writes.append(PutKey(key, ConfigsValue(configs).encode()) if configs else DeleteKey(key))
    if validate_only or not writes:
        return Decision(results)
    return Decision(results, Change(tuple(expectations), tuple(writes)))
