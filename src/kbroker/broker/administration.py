"""What administrators ask for: topics, partitions, features; and configs, in their own file.

The decisions are `kbroker.cluster`'s. This class gives them what they must not take themselves:
new ids, the die of the placement, the broker's configs; and it waits until they are carried out.
"""

import math
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence

import trio

from kbroker import cluster
from kbroker.broker.carrying_out import NotCarriedOut, carry_out
from kbroker.broker.config_administration import ConfigAdministration
from kbroker.broker.control import Control
from kbroker.broker.internal_topics import topic_to_create
from kbroker.cluster import (
    ClusterImage,
    Decision,
    Elected,
    ElectionType,
    FeatureUpdate,
    InvalidTopicName,
    MorePartitions,
    NewTopic,
    Reassignment,
    Refused,
    TopicCreated,
    TopicDefaults,
    TopicDeletion,
    TopicToDelete,
    VersionRange,
    controller_fence,
    validate_topic_name,
)
from kbroker.config import BrokerConfig
from kbroker.config.topic_config import check_topic
from kbroker.model import Uuid
from kbroker.telemetry.log_lines import get_logger
from kbroker.wire.error_codes import ErrorCode

log = get_logger("administration")

# The die of the placement; large, so that every broker is as likely as the others to be first.
_DIE_SIDES = 2**31


class Administration:
    """Changes of the cluster, by one method for each request.

    ``deadline`` is on trio's clock. All methods raise NotCarriedOut if the change was not made by
    then, or cannot be made now; an empty request is answered in any case.
    """

    def __init__(
        self,
        control: Control,
        config: Callable[[], BrokerConfig],
        node_id: int,
        new_uuid: Callable[[], Uuid],
        supported_features: Mapping[str, VersionRange],
    ) -> None:
        self._control = control
        self._config = config
        self._node_id = node_id
        self._new_uuid = new_uuid
        self._supported_features = supported_features
        self.configs = ConfigAdministration(control, config, node_id)

    async def create_topics(
        self, topics: Sequence[NewTopic], *, deadline: float, validate_only: bool = False
    ) -> dict[str, TopicCreated | Refused]:
        """Create topics; the answer is by name."""
        if not topics:
            return {}
        config = self._config()
        topic_ids = [self._new_uuid() for _ in topics]
        start = secrets.randbelow(_DIE_SIDES)
        defaults = TopicDefaults(
            config.get_int("num.partitions"), config.get_int("default.replication.factor")
        )

        def decide(image: ClusterImage) -> Decision[dict[str, TopicCreated | Refused]]:
            return cluster.create_topics(
                image,
                topics,
                topic_ids=topic_ids,
                defaults=defaults,
                check_configs=lambda configs: check_topic(config, configs),
                start=start,
                fence=controller_fence(image.controller_epoch),
                validate_only=validate_only,
            )

        return await carry_out(self._control, decide, deadline)

    async def auto_create_topics(self, names: Iterable[str]) -> dict[str, ErrorCode]:
        """Create topics because somebody asked about them; says why some do not exist.

        A topic that could not be created is, to who asked, simply not there. What kept it from
        being created, an operator finds in the log.
        """
        config = self._config()
        errors: dict[str, ErrorCode] = {}
        wanted: dict[str, NewTopic] = {}
        for name in names:
            try:
                validate_topic_name(name)
            except InvalidTopicName:
                errors[name] = ErrorCode.INVALID_TOPIC_EXCEPTION
            else:
                wanted[name] = topic_to_create(name, config)
        deadline = trio.current_time() + config.get_int("request.timeout.ms") / 1000
        try:
            results = await self.create_topics(list(wanted.values()), deadline=deadline)
        except NotCarriedOut as error:
            log.warning("topics could not be created", topics=",".join(wanted), reason=str(error))
            return {**errors, **dict.fromkeys(wanted, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)}
        for name, result in results.items():
            # Somebody else may have been faster, which is as good.
            if isinstance(result, Refused) and result.error != "TOPIC_ALREADY_EXISTS":
                log.warning("a topic could not be created", topic=name, reason=result.message)
                errors[name] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return errors

    async def delete_topics(
        self, topics: Sequence[TopicToDelete], *, deadline: float
    ) -> tuple[TopicDeletion, ...]:
        """Delete topics, unless `delete.topic.enable` is off; one answer for each topic."""
        enabled = self._config().get_bool("delete.topic.enable")
        if not topics:
            return ()

        def decide(image: ClusterImage) -> Decision[tuple[TopicDeletion, ...]]:
            fence = controller_fence(image.controller_epoch)
            return cluster.delete_topics(image, topics, fence=fence, deletion_enabled=enabled)

        # That nothing is ever deleted needs no time to say.
        return await carry_out(self._control, decide, deadline if enabled else math.inf)

    async def create_partitions(
        self, topics: Sequence[MorePartitions], *, deadline: float, validate_only: bool = False
    ) -> dict[str, Refused | None]:
        """Add partitions to topics; the answer by name is None where it is done."""
        if not topics:
            return {}
        start = secrets.randbelow(_DIE_SIDES)

        def decide(image: ClusterImage) -> Decision[dict[str, Refused | None]]:
            return cluster.create_partitions(
                image,
                topics,
                start=start,
                fence=controller_fence(image.controller_epoch),
                validate_only=validate_only,
            )

        return await carry_out(self._control, decide, deadline)

    async def elect_leaders(
        self,
        election: ElectionType,
        asked: Sequence[tuple[str, Sequence[int]]] | None,
        *,
        deadline: float,
    ) -> Elected:
        """Elect leaders of the partitions ``asked`` for, or of all; the answer is by topic."""

        def decide(image: ClusterImage) -> Decision[Elected]:
            fence = controller_fence(image.controller_epoch)
            return cluster.elect_leaders(image, election, asked, fence=fence)

        return await carry_out(self._control, decide, deadline)

    async def reassign_partitions(
        self, asked: Sequence[Reassignment], *, deadline: float
    ) -> tuple[Refused | None, ...]:
        """Give partitions other replicas; one answer for each, None where it is done."""

        def decide(image: ClusterImage) -> Decision[tuple[Refused | None, ...]]:
            fence = controller_fence(image.controller_epoch)
            return cluster.reassign_partitions(image, asked, fence=fence)

        return await carry_out(self._control, decide, deadline)

    async def update_features(
        self, updates: Sequence[FeatureUpdate], *, validate_only: bool = False
    ) -> Refused | None:
        """Move finalised feature levels, all or none of them."""

        def decide(image: ClusterImage) -> Decision[Refused | None]:
            return cluster.update_features(
                image,
                updates,
                node_id=self._node_id,
                supported=self._supported_features,
                fence=controller_fence(image.controller_epoch),
                validate_only=validate_only,
            )

        return await carry_out(self._control, decide)
