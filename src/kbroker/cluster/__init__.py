"""The cluster image and every decision about it; sans-IO.

keys                where each fact is stored
values              what the keys hold, as JSON
image               ClusterImage, what the cluster is, kept up to date batch by batch
image_parts         the immutable values an image is made of, and ImageDelta
change              Change, Decision and Refused: what a decision returns
topic_names         which names a topic may have
placement           on which brokers new replicas go
assignments         replicas that clients choose
membership          create_cluster, register_broker, claim_controller
leadership          lead_sole_replicas, sweep_orphans
adopt_topics        topics that lie in a data directory and nowhere else
create_topics       one file for each request to the controller, named after it
delete_topics
create_partitions
reassign_partitions
elect_leaders
alter_configs
update_features
producer_id_blocks  next_producer_id_block

A decision is a function of an image and a request. It reads no clock, rolls no dice and writes
nothing: it returns answers, and a change to be written before they are given. Every change of the
controller expects that it still is the controller (M1); a change that finds its expectations
broken is decided again on a newer image (M4).
"""

from kbroker.cluster.adopt_topics import FoundTopic, adopt_topics
from kbroker.cluster.alter_configs import alter_configs, check_resource
from kbroker.cluster.assignments import ManualAssignment
from kbroker.cluster.change import (
    Change,
    Decision,
    DeleteKey,
    Expectation,
    KeyCreatedAt,
    KeyMissing,
    KeyModifiedAt,
    KeyWrite,
    PutKey,
    Refused,
    controller_fence,
)
from kbroker.cluster.create_partitions import MorePartitions, create_partitions
from kbroker.cluster.create_topics import (
    ConfigCheck,
    NewTopic,
    TopicCreated,
    TopicDefaults,
    create_topics,
)
from kbroker.cluster.delete_topics import TopicDeletion, TopicToDelete, delete_topics
from kbroker.cluster.elect_leaders import Elected, ElectionType, elect_leaders
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.image_parts import (
    BrokerImage,
    FeaturesImage,
    ImageDelta,
    KeyChange,
    PartitionImage,
    TopicImage,
)
from kbroker.cluster.keys import ConfigResource, ResourceType
from kbroker.cluster.leadership import lead_sole_replicas, sweep_orphans
from kbroker.cluster.membership import claim_controller, create_cluster, register_broker
from kbroker.cluster.producer_id_blocks import (
    ProducerIdBlock,
    next_producer_id_block,
    skip_producer_ids,
)
from kbroker.cluster.reassign_partitions import Reassignment, reassign_partitions
from kbroker.cluster.topic_names import InvalidTopicName, is_internal, validate_topic_name
from kbroker.cluster.update_features import FeatureUpdate, UpgradeType, update_features
from kbroker.cluster.values import BrokerValue, Endpoint, MalformedValue, VersionRange

__all__ = [
    "skip_producer_ids",
    "FoundTopic",
    "adopt_topics",
    "ClusterImage",
    "ImageDelta",
    "KeyChange",
    "BrokerImage",
    "TopicImage",
    "PartitionImage",
    "FeaturesImage",
    "ConfigResource",
    "ResourceType",
    "BrokerValue",
    "Endpoint",
    "VersionRange",
    "MalformedValue",
    "Change",
    "Expectation",
    "KeyMissing",
    "KeyCreatedAt",
    "KeyModifiedAt",
    "KeyWrite",
    "PutKey",
    "DeleteKey",
    "Decision",
    "Refused",
    "controller_fence",
    "create_cluster",
    "register_broker",
    "claim_controller",
    "lead_sole_replicas",
    "sweep_orphans",
    "ConfigCheck",
    "ManualAssignment",
    "NewTopic",
    "TopicCreated",
    "TopicDefaults",
    "create_topics",
    "TopicDeletion",
    "TopicToDelete",
    "delete_topics",
    "MorePartitions",
    "create_partitions",
    "Reassignment",
    "reassign_partitions",
    "Elected",
    "ElectionType",
    "elect_leaders",
    "alter_configs",
    "check_resource",
    "FeatureUpdate",
    "UpgradeType",
    "update_features",
    "ProducerIdBlock",
    "next_producer_id_block",
    "InvalidTopicName",
    "is_internal",
    "validate_topic_name",
]
