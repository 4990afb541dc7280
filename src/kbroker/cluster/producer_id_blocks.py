"""AllocateProducerIds: blocks of producer ids, reserved before the first of them is used (P11)."""

from dataclasses import dataclass

from kbroker.cluster.change import (
    Change,
    Decision,
    Expectation,
    KeyMissing,
    KeyModifiedAt,
    PutKey,
    Refused,
)
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.keys import PRODUCER_IDS
from kbroker.cluster.values import ProducerIdsValue

# Kafka's ProducerIdsBlock. A broker that restarts loses the rest of its block; at a thousand per
# restart, 2^63 ids last.
BLOCK_SIZE = 1000

_LAST_PRODUCER_ID = 2**63 - 1
# Ids that no broker of ours has reserved belong to no broker and no epoch.
_NOBODY = -1


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """Ids from ``first`` on, ``size`` of them; its owner's alone once the change is written."""

    first: int
    size: int = BLOCK_SIZE


def next_producer_id_block(
    image: ClusterImage, *, node_id: int, broker_epoch: int
) -> Decision[ProducerIdBlock | Refused]:
    """Reserve the next block for a broker.

    Any broker may write this change itself: the key it compares is the one it writes, so two
    brokers cannot get the same block, and no controller is needed.
    """
    first = image.next_producer_id
    if first > _LAST_PRODUCER_ID - BLOCK_SIZE:
        return Decision(
            Refused(
                "UNKNOWN_SERVER_ERROR",
                "Exhausted all producerIds as the next block's end producerId has exceeded the "
                "int64 type limit",
            )
        )
    value = ProducerIdsValue(first + BLOCK_SIZE, node_id, broker_epoch)
    change = Change((_unchanged(image),), (PutKey(PRODUCER_IDS, value.encode()),))
    return Decision(ProducerIdBlock(first), change)


def skip_producer_ids(image: ClusterImage, *, used: int) -> Decision[None]:
    """Begin behind the block of an id that somebody else has handed out."""
    first = (used // BLOCK_SIZE + 1) * BLOCK_SIZE
    if first <= image.next_producer_id:
        return Decision(None)
    value = ProducerIdsValue(min(first, _LAST_PRODUCER_ID), _NOBODY, _NOBODY)
    return Decision(None, Change((_unchanged(image),), (PutKey(PRODUCER_IDS, value.encode()),)))


def _unchanged(image: ClusterImage) -> Expectation:
    revision = image.key_revision(PRODUCER_IDS)
    return KeyMissing(PRODUCER_IDS) if revision is None else KeyModifiedAt(PRODUCER_IDS, revision)
