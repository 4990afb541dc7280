"""Producer ids: numbers that are given once and never again (P11).

A block is reserved in the store before the first of its numbers is handed out. What is left of a
block when the broker stops is lost, which is cheap: there are 2^63 of them.
"""

import trio

from kbroker.broker.control import Control, ControlError
from kbroker.cluster import (
    ClusterImage,
    Decision,
    ProducerIdBlock,
    Refused,
    next_producer_id_block,
    skip_producer_ids,
)


class ProducerIds:
    """Hands out ids from the block this broker holds."""

    def __init__(self, control: Control, node_id: int) -> None:
        self._control = control
        self._node_id = node_id
        self._next = 0
        self._end = 0
        self._reserving = trio.Lock()

    async def next_id(self) -> int:
        """An id that nobody has had; ControlError if no block can be reserved."""
        async with self._reserving:
            if self._next == self._end:
                block = await self._control.decide(self._reserve)
                if isinstance(block, Refused):
                    raise ControlError(block.message or block.error)
                self._next, self._end = block.first, block.first + block.size
            self._next += 1
            return self._next - 1

    async def skip(self, used: int) -> None:
        """Never hand out ``used``, nor any id of its block; -1 skips nothing."""
        if used >= 0:
            await self._control.decide(lambda image: skip_producer_ids(image, used=used))

    def _reserve(self, image: ClusterImage) -> Decision[ProducerIdBlock | Refused]:
        broker = image.brokers.get(self._node_id)
        epoch = -1 if broker is None else broker.epoch
        return next_producer_id_block(image, node_id=self._node_id, broker_epoch=epoch)
