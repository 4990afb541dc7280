"""The script: every step, in the order in which both brokers see them."""

from compat_tests.differential.run import Run
from compat_tests.differential.steps import (
    api_versions,
    changes,
    configs,
    fetch,
    groups,
    logs,
    metadata,
    offsets,
    placement,
    produce,
    topics,
)

# Later steps use topics that earlier ones wrote to.
SCRIPT = (
    api_versions.api_versions,
    api_versions.frames,
    metadata.metadata,
    metadata.describe_topic_partitions,
    metadata.describe_cluster,
    topics.create_topics,
    topics.create_partitions,
    topics.delete_topics,
    produce.produce,
    produce.topics_with_rules,
    produce.idempotence,
    fetch.fetch,
    fetch.sessions,
    offsets.list_offsets,
    offsets.offset_for_leader_epoch,
    offsets.delete_records,
    logs.segments,
    logs.times,
    offsets.describe_producers,
    offsets.describe_log_dirs,
    configs.describe_configs,
    configs.alter_configs,
    configs.incremental_alter_configs,
    configs.alter_all_kinds,
    configs.list_config_resources,
    changes.altered_topics,
    changes.deleted_topics,
    configs.update_features,
    groups.offsets_of_groups,
    groups.classic_groups,
    groups.consumer_groups,
    placement.elect_leaders,
    placement.reassign_partitions,
    placement.alter_replica_log_dirs,
    placement.describe_quorum,
    configs.find_coordinator,
    configs.unknown_operations,
)


def follow(run: Run) -> None:
    """Ask everything, in order."""
    for steps in SCRIPT:
        steps(run)
