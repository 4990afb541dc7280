"""DeleteTopics: by name or by id, with Kafka's answers to those who name a topic twice."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kbroker.cluster.assignments import DUPLICATE_TOPIC, UNKNOWN_TOPIC
from kbroker.cluster.change import (
    Change,
    Decision,
    DeleteKey,
    Expectation,
    KeyModifiedAt,
    KeyWrite,
    Refused,
)
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.image_parts import TopicImage
from kbroker.cluster.keys import (
    ConfigResource,
    ResourceType,
    config_key,
    partition_key,
    topic_key,
)
from kbroker.model import ZERO_UUID, Uuid

DELETION_DISABLED = Refused("TOPIC_DELETION_DISABLED", "Topic deletion is disabled.")


@dataclass(frozen=True, slots=True)
class TopicToDelete:
    """A topic somebody wants gone: by its name, or by its id and no name."""

    name: str | None
    topic_id: Uuid = ZERO_UUID


@dataclass(frozen=True, slots=True)
class TopicDeletion:
    """One answer; ``refused`` is None for a topic that is gone once the change is written."""

    name: str | None
    topic_id: Uuid
    refused: Refused | None = None


def delete_topics(
    image: ClusterImage,
    topics: Sequence[TopicToDelete],
    *,
    fence: Expectation,
    deletion_enabled: bool = True,
) -> Decision[tuple[TopicDeletion, ...]]:
    """Decide each topic by itself. A topic that is named twice gets one answer, a refusal.

    Kafka refuses a whole request with TOPIC_DELETION_DISABLED, or with INVALID_REQUEST before
    version 3, when delete.topic.enable is off; here each topic gets that answer.
    """
    if not deletion_enabled:
        return Decision(tuple(TopicDeletion(t.name, t.topic_id, DELETION_DISABLED) for t in topics))
    answers: list[TopicDeletion] = []
    doomed: dict[Uuid, TopicImage] = {}
    times = Counter(topics)
    # Ids before names, as Kafka does: the name of a topic that was also given by id is at fault.
    for topic in sorted(times, key=lambda topic: topic.name is not None):
        found = _find(image, topic, times[topic])
        if isinstance(found, Refused):
            answers.append(TopicDeletion(topic.name, topic.topic_id, found))
        elif found.topic_id in doomed or times[TopicToDelete(None, found.topic_id)] > 1:
            doomed.pop(found.topic_id, None)
            message = "The provided topic name maps to an ID that was already supplied."
            refused = Refused("INVALID_REQUEST", message)
            answers.append(TopicDeletion(topic.name, found.topic_id, refused))
        else:
            doomed[found.topic_id] = found
    answers.extend(TopicDeletion(topic.name, topic.topic_id) for topic in doomed.values())
    if not doomed:
        return Decision(tuple(answers))
    return Decision(tuple(answers), _change(image, list(doomed.values()), fence))


def _find(image: ClusterImage, topic: TopicToDelete, times: int) -> TopicImage | Refused:
    if topic.name is None:
        if topic.topic_id == ZERO_UUID:
            return Refused("INVALID_REQUEST", "Neither topic name nor id were specified.")
        if times > 1:
            return Refused("INVALID_REQUEST", "Duplicate topic id.")
        found = image.topic_by_id(topic.topic_id)
        return found or Refused("UNKNOWN_TOPIC_ID", "This server does not host this topic ID.")
    if topic.topic_id != ZERO_UUID:
        return Refused("INVALID_REQUEST", "You may not specify both topic name and topic id.")
    if times > 1:
        return DUPLICATE_TOPIC
    return image.topics.get(topic.name, UNKNOWN_TOPIC)


def _change(image: ClusterImage, topics: Sequence[TopicImage], fence: Expectation) -> Change:
    """The topics' own keys go first: what is left behind by a crash is swept as orphans."""
    expectations: list[Expectation] = [fence]
    writes: list[KeyWrite] = []
    for topic in topics:
        key = topic_key(topic.name)
        revision = image.key_revision(key)
        assert revision is not None, "a topic in the image has a key"
        expectations.append(KeyModifiedAt(key, revision))
        writes.append(DeleteKey(key))
        configs = config_key(ConfigResource(ResourceType.TOPIC, topic.name))
        if image.key_revision(configs) is not None:
            writes.append(DeleteKey(configs))
    for topic in topics:
        writes.extend(
            DeleteKey(partition_key(topic.topic_id, partition.partition))
            for partition in topic.partitions
        )
    return Change(tuple(expectations), tuple(writes))
