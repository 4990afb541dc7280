"""Where each fact of the cluster is stored: key names, relative to the cluster's own prefix.

    cluster                        its id, and when it was made
    features                       the finalised levels
    controller                     who decides (leased)
    brokers/<node id>              who lives, and where (leased; incarnation = create revision)
    topics/<name>                  a topic and its id
    partitions/<topic id>/<n>      replicas, leader, epochs, in-sync replicas
    configs/<type>/<name>          the overrides of one resource
    producer-ids                   the first producer id that was never handed out

Names that clients choose are percent-escaped, so that none of them can hold a slash. Partitions
hang on the topic's id and not on its name: a topic that is deleted and created again cannot meet
its own past.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import quote, unquote

from kbroker.model import Uuid, uuid_from_text, uuid_to_text

CLUSTER = "cluster"
FEATURES = "features"
CONTROLLER = "controller"
PRODUCER_IDS = "producer-ids"
BROKERS = "brokers/"
TOPICS = "topics/"
PARTITIONS = "partitions/"
CONFIGS = "configs/"


class ResourceType(StrEnum):
    """What can have config overrides, spelled as in Kafka's tools (``--entity-type``)."""

    TOPIC = "topic"
    BROKER = "broker"
    GROUP = "group"
    CLIENT_METRICS = "client-metrics"


class ConfigResource(NamedTuple):
    """One owner of config overrides. The broker named "" stands for all brokers."""

    type: ResourceType
    name: str


@dataclass(frozen=True, slots=True)
class BrokerKey:
    """brokers/<node id>"""

    node_id: int


@dataclass(frozen=True, slots=True)
class TopicKey:
    """topics/<name>"""

    name: str


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """partitions/<topic id>/<n>"""

    topic_id: Uuid
    partition: int


def broker_key(node_id: int) -> str:
    """The key of a broker's registration."""
    return f"{BROKERS}{node_id}"


def topic_key(name: str) -> str:
    """The key that makes a topic exist."""
    return TOPICS + quote(name, safe="")


def partition_key(topic_id: Uuid, partition: int) -> str:
    """The key of one partition's state."""
    return f"{PARTITIONS}{uuid_to_text(topic_id)}/{partition}"


def config_key(resource: ConfigResource) -> str:
    """The key of a resource's config overrides."""
    return f"{CONFIGS}{resource.type.value}/{quote(resource.name, safe='')}"


def parse_key(key: str) -> BrokerKey | TopicKey | PartitionKey | ConfigResource | None:
    """What a key with a variable part names; None if it is none of those we know."""
    family, _, rest = key.partition("/")
    try:
        match family:
            case "partitions":
                topic_id, _, partition = rest.partition("/")
                return PartitionKey(uuid_from_text(topic_id), int(partition))
            case "topics":
                return TopicKey(unquote(rest))
            case "configs":
                type_, _, name = rest.partition("/")
                return ConfigResource(ResourceType(type_), unquote(name))
            case "brokers":
                return BrokerKey(int(rest))
    except ValueError:
        return None
    return None
