"""The broker: all its parts, put together, from opening the data to closing it.

    open      lock the data directory, read the metadata, open every log
    run       follow the store, carry out decisions, flush, look after the logs
    join      register under the addresses clients reach us at, and lead
    close     flush and close every log, then say that the stop was clean

Handlers get this object and ask its parts; they hold nothing themselves.
"""

import secrets
from collections.abc import Sequence
from typing import Self

import trio

from kbroker.broker.administration import Administration
from kbroker.broker.clock import Clock
from kbroker.broker.control import Control
from kbroker.broker.features import INITIAL_LEVELS, SUPPORTED, FeaturesView
from kbroker.broker.fetch_sessions import FetchSessions
from kbroker.broker.fetching import Fetcher
from kbroker.broker.flushing import Flusher
from kbroker.broker.group_coordinator import GroupCoordinator
from kbroker.broker.kept_answers import KeptAnswers
from kbroker.broker.markers import LocalMarkers, MarkerWriter
from kbroker.broker.membership import Membership
from kbroker.broker.partitions import Partitions
from kbroker.broker.producer_ids import ProducerIds
from kbroker.broker.transaction_coordinator import TransactionCoordinator
from kbroker.broker.upkeep import Upkeep
from kbroker.cluster import (
    BrokerValue,
    ClusterImage,
    ConfigResource,
    Endpoint,
    ImageDelta,
    InvalidTopicName,
    ResourceType,
    validate_topic_name,
)
from kbroker.cluster.topic_names import INTERNAL_TOPICS
from kbroker.config import BrokerConfig, ConfigError
from kbroker.model import Uuid, uuid_to_text
from kbroker.store import Store
from kbroker.telemetry import Registry
from kbroker.telemetry.log_lines import get_logger
from kbroker.wire.error_codes import ErrorCode

log = get_logger("broker")

# Every key of the cluster lies under this; etcd's will carry the cluster's name too.
STORE_PREFIX = "/kbroker/"


def new_uuid() -> Uuid:
    """A random id that reads well: Kafka avoids a leading dash, which options begin with."""
    while True:
        uuid = Uuid(secrets.token_bytes(16))
        if not uuid_to_text(uuid).startswith("-"):
            return uuid


class Broker:
    """One broker. Open it with `open`."""

    def __init__(self, config: BrokerConfig, store: Store, partitions: Partitions) -> None:
        self._static = config
        self.config = config
        self.node_id = config.node_id
        self.internal_topics = INTERNAL_TOPICS
        self.clock = partitions.clock
        self.registry = Registry()
        self._store = store
        self.partitions = partitions
        self.control = Control(store, STORE_PREFIX, self._on_delta)
        self._membership = Membership(store, self.control)
        self.producer_ids = ProducerIds(self.control, self.node_id)
        self.kept_answers = KeptAnswers()
        self.fetcher = Fetcher(
            partitions,
            FetchSessions(
                slots=config.get_int("max.incremental.fetch.session.cache.slots"),
                # Kafka's FetchManager: how long an unused session is safe from eviction.
                eviction_s=120.0,
                new_id=lambda: secrets.randbelow(2**31 - 1) + 1,
            ),
            self.clock,
            max_bytes=config.get_int("fetch.max.bytes"),
        )
        self._flusher = Flusher(self.clock, partitions.take_offline)
        partitions.flusher = self._flusher
        self.upkeep = Upkeep(partitions, self._flusher, self.clock, lambda: self.config)
        self.administration = Administration(
            self.control, lambda: self.config, self.node_id, new_uuid, SUPPORTED
        )
        self.groups = GroupCoordinator(
            partitions,
            lambda: self.image,
            lambda: self.config,
            self.administration.auto_create_topics,
            self.clock,
        )
        self.markers = LocalMarkers(partitions, self.groups, self.clock)
        self._marker_writer = MarkerWriter(self.markers)
        self.transactions = TransactionCoordinator(
            partitions,
            lambda: self.image,
            lambda: self.config,
            self.administration.auto_create_topics,
            self.clock,
            self._marker_writer,
        )

    @classmethod
    async def open(cls, config: BrokerConfig, store: Store, clock: Clock | None = None) -> Self:
        """Read the metadata and open all logs; StorageError or CorruptLog if that fails."""
        partitions = Partitions(config, clock or Clock())
        broker = cls(config, store, partitions)
        await broker.control.load()
        broker._read_dynamic_config()
        partitions.image = broker.image
        partitions.config = broker.config
        return broker

    @property
    def image(self) -> ClusterImage:
        """The cluster as far as we have heard."""
        return self.control.image

    @property
    def cluster_id(self) -> str | None:
        """The id of the cluster, once it has one."""
        return self.control.image.cluster_id

    def features_image(self) -> FeaturesView:
        """What ApiVersions tells of features."""
        return FeaturesView.of(self.image)

    def endpoints(self, listener: str) -> list[tuple[int, str, int, str | None]]:
        """Node id, host, port and rack of every live broker, as clients of a listener see it."""
        found = []
        for broker in self.image.brokers.values():
            endpoint = broker.endpoint(listener)
            if endpoint is not None:
                found.append((broker.node_id, endpoint.host, endpoint.port, broker.rack))
        return found

    def missing_topic_error(self, name: str) -> ErrorCode:
        """What is said of a topic that does not exist."""
        try:
            validate_topic_name(name)
        except InvalidTopicName:
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Do everything that goes on in the background, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.control.watch, name="watch")
            nursery.start_soon(self.control.run, name="control")
            if self.image.cluster_id is None:
                await self._found_cluster()
            else:
                self.partitions.claim_directories(self.image.cluster_id, self.node_id)
                await self.partitions.load()
            nursery.start_soon(self._flusher.run, name="flush")
            nursery.start_soon(self.fetcher.run, name="long polls")
            nursery.start_soon(self.upkeep.run, name="upkeep")
            nursery.start_soon(self._membership.keep, name="lease")
            self.groups.follow()
            nursery.start_soon(self.groups.run, name="groups")
            self.transactions.follow()
            nursery.start_soon(self.transactions.run, name="transactions")
            nursery.start_soon(self._marker_writer.run, name="markers")
            task_status.started()

    async def _found_cluster(self) -> None:
        """A first start: take in the topics that lie in the directory, and name the cluster.

        The name comes last. Until it is written, a start is a first start, and does all of this
        again; nothing here minds being done twice.
        """
        cluster_id = self.partitions.stored_cluster_id() or uuid_to_text(new_uuid())
        self.partitions.claim_directories(cluster_id, self.node_id)
        adopt = self.partitions.adoption(self.node_id)
        if adopt is not None:
            await self.control.decide(adopt)
        await self.partitions.load()
        # P11: whoever wrote these logs gave out ids too, up to the end of a block at the most.
        await self.producer_ids.skip(self.partitions.highest_producer_id())
        stored = await trio.to_thread.run_sync(self.transactions.highest_stored_producer_id)
        await self.producer_ids.skip(stored)
        # As a new cluster of Kafka does: this one config is the cluster's own from the beginning
        # (KIP-966), and tools that list what is not a default expect to see it.
        own = {name: str(self.config.get_int(name)) for name in ("min.insync.replicas",)}
        await self._membership.found_cluster(cluster_id, INITIAL_LEVELS, own)

    async def join(self, endpoints: Sequence[Endpoint]) -> None:
        """Register under these addresses and lead what only this broker has."""
        rack = self.config.get_text("broker.rack")
        value = BrokerValue(self.node_id, new_uuid(), tuple(endpoints), rack, SUPPORTED)
        await self._membership.join(value, new_epochs=not self.partitions.was_clean)

    def stop_waiting(self) -> None:
        """Answer all that waits: at coordinators with a refusal, long polls with what there is."""
        self.transactions.stop()
        self.groups.stop()
        self.fetcher.stopping = True
        for partition in self.partitions.all():
            partition.notify()

    async def leave(self) -> None:
        """Say goodbye to the cluster, before `run` is cancelled."""
        await self._membership.leave()

    def close(self) -> None:
        """Close every log and say that the stop was clean; after `run` has ended."""
        registered = self.image.brokers.get(self.node_id)
        self.upkeep.purge_now()
        self.partitions.close(-1 if registered is None else registered.epoch)

    async def _on_delta(self, delta: ImageDelta) -> None:
        """The cluster changed: follow it."""
        broker_resources = {
            ConfigResource(ResourceType.BROKER, ""),
            ConfigResource(ResourceType.BROKER, str(self.node_id)),
        }
        if delta.configs & broker_resources:
            self._read_dynamic_config()
            self.partitions.config = self.config
            self.partitions.refresh_configs()
            self.groups.configure()
            self.transactions.configure()
        if delta.features:
            self.transactions.configure()
        await self.partitions.follow(delta)
        if delta.created or delta.changed or delta.deleted:
            self.groups.follow(delta.deleted)
            self.transactions.follow()

    def _read_dynamic_config(self) -> None:
        configs = self.image.configs
        nothing: dict[str, str] = {}
        for_all = configs.get(ConfigResource(ResourceType.BROKER, ""), nothing)
        own = configs.get(ConfigResource(ResourceType.BROKER, str(self.node_id)), nothing)
        try:
            self.config = self._static.with_dynamic(default_overrides=for_all, overrides=own)
        except ConfigError as error:
            # Each was checked alone when it was set; together they can still be wrong.
            log.error("dynamic configs contradict each other and are left out", reason=str(error))
            return
        if self.config.ignored:
            log.warning("dynamic configs are not usable", names=", ".join(self.config.ignored))
