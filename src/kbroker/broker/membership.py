"""Being a member of the cluster: registered, and controller if nobody else is.

Both are keys under one lease. As long as the lease is kept alive, they stay; a process that stops
without a word loses them when it runs out. Holding it proves nothing, and nothing relies on it:
every change of the controller expects its own claim, so one that was overtaken writes nothing (M3).
"""

import trio

from kbroker.broker.control import Control, ControlError
from kbroker.cluster import (
    BrokerValue,
    Change,
    ClusterImage,
    Decision,
    claim_controller,
    controller_fence,
    create_cluster,
    lead_sole_replicas,
    register_broker,
    sweep_orphans,
)
from kbroker.store import LeaseNotFound, Store, StoreFull
from kbroker.telemetry.log_lines import get_logger

log = get_logger("membership")

# Kafka's `broker.session.timeout.ms` and `broker.heartbeat.interval.ms`.
LEASE_TTL_S = 9.0
KEEP_ALIVE_S = 2.0


class Membership:
    """Registers this broker and keeps it registered."""

    def __init__(self, store: Store, control: Control) -> None:
        self._store = store
        self._control = control
        self._registration: BrokerValue | None = None

    async def found_cluster(
        self, cluster_id: str, features: dict[str, int], configs: dict[str, str]
    ) -> None:
        """Give the cluster its id, if it has none yet, and what it begins with."""

        def decide(image: ClusterImage) -> Decision[None]:
            new = image.cluster_id is None
            change = create_cluster(cluster_id, features, configs) if new else Change()
            return Decision(None, change)

        await self._control.decide(decide)

    async def join(self, registration: BrokerValue, *, new_epochs: bool) -> None:
        """Register, claim the control of the cluster, and lead what only we have.

        ``new_epochs`` after a stop that was not clean: the logs may have lost their tails, and
        only a new leader epoch tells readers to check where they stand (KIP-320).
        """
        self._registration = registration
        node_id = registration.node_id
        lease = await self._store.grant_lease(LEASE_TTL_S)
        self._control.lease_id = lease.id

        def register(image: ClusterImage) -> Decision[None]:
            known = node_id in image.brokers
            return Decision(None, Change() if known else register_broker(registration))

        def claim(image: ClusterImage) -> Decision[None]:
            led = image.controller_id >= 0
            return Decision(None, Change() if led else claim_controller(node_id))

        await self._control.decide(register)
        await self._control.decide(claim)
        if new_epochs:
            await self._lead(node_id)

    async def _lead(self, node_id: int) -> None:
        def lead(image: ClusterImage) -> Decision[None]:
            if image.controller_id != node_id:
                return Decision(None)
            fence = controller_fence(image.controller_epoch)
            return Decision(None, lead_sole_replicas(image, node_id, fence))

        def sweep(image: ClusterImage) -> Decision[None]:
            if image.controller_id != node_id:
                return Decision(None)
            return Decision(None, sweep_orphans(image, controller_fence(image.controller_epoch)))

        await self._control.decide(lead)
        await self._control.decide(sweep)

    async def keep(self) -> None:
        """Keep the lease alive until cancelled; joins again if it was lost."""
        while True:
            await trio.sleep(KEEP_ALIVE_S)
            try:
                await self._store.keep_alive(self._control.lease_id)
            except LeaseNotFound:
                # The process was stopped for longer than the lease lives.
                log.warning("the lease ran out; registering again")
                await self._join_again()

    async def _join_again(self) -> None:
        if self._registration is None:
            return
        try:
            await self.join(self._registration, new_epochs=False)
        except (ControlError, StoreFull) as error:
            log.error("cannot register now; trying again later", reason=str(error))

    async def leave(self) -> None:
        """Give the lease back, so that nobody has to wait for its end."""
        try:
            await self._store.revoke(self._control.lease_id)
        except LeaseNotFound:
            log.warning("the lease had run out before the shutdown")
        except StoreFull as error:
            log.warning("the lease is left to run out", reason=str(error))
