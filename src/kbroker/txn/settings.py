"""The configs that transactions look at, each under the name of its use."""

from dataclasses import dataclass
from typing import Self

from kbroker.config import BrokerConfig


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """What the configs say about transactions; made anew when one of them changes.

    ``TransactionSettings()`` has Kafka's defaults. ``transaction_version`` is the level of the
    feature of that name which the cluster has agreed on.
    """

    max_timeout_ms: int = 900_000
    id_expiration_ms: int = 604_800_000
    abort_interval_ms: int = 10_000
    expire_interval_ms: int = 3_600_000
    transaction_version: int = 2

    @classmethod
    def of(cls, config: BrokerConfig, transaction_version: int) -> Self:
        """The settings of a broker."""
        return cls(
            max_timeout_ms=config.get_int("transaction.max.timeout.ms"),
            id_expiration_ms=config.get_int("transactional.id.expiration.ms"),
            abort_interval_ms=config.get_int(
                "transaction.abort.timed.out.transaction.cleanup.interval.ms"
            ),
            expire_interval_ms=config.get_int(
                "transaction.remove.expired.transaction.cleanup.interval.ms"
            ),
            transaction_version=transaction_version,
        )
