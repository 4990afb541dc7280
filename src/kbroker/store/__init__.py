"""Cluster metadata: keys, revisions, transactions, watches and leases, in a file or in etcd.

interface    Store, the types it speaks in and the rules every store keeps
memory       MemoryStore, the model
embedded     EmbeddedStore, a durable file for a broker that is alone
local_store  LocalStore: rounds of transactions, reads, watches and leases inside one process
key_space    KeySpace: the keys and the rules of revisions
history      History: the recent past, for watches
leases       LeaseTable: when leases run out
journal      the bytes of the embedded store's file
"""

from kbroker.store.embedded import EmbeddedStore
from kbroker.store.interface import (
    Compacted,
    Compare,
    CreatedAt,
    Delete,
    Event,
    EventKind,
    Exists,
    KeyValue,
    Lease,
    LeaseNotFound,
    Listing,
    Missing,
    ModifiedAt,
    Put,
    Store,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFailed,
    StoreFull,
    StoreLocked,
    TxnResult,
    Watch,
    WatchBatch,
    Write,
)
from kbroker.store.memory import MemoryStore

__all__ = [
    "Store",
    "MemoryStore",
    "EmbeddedStore",
    "KeyValue",
    "Compare",
    "Exists",
    "Missing",
    "ModifiedAt",
    "CreatedAt",
    "Write",
    "Put",
    "Delete",
    "TxnResult",
    "Listing",
    "Event",
    "EventKind",
    "WatchBatch",
    "Watch",
    "Lease",
    "StoreError",
    "Compacted",
    "LeaseNotFound",
    "StoreClosed",
    "StoreDamaged",
    "StoreFailed",
    "StoreFull",
    "StoreLocked",
]
