"""Transactions: who may write in which, how they end, and which markers must follow; sans-IO.

shard                TransactionShard, all transactional ids of one partition of __transaction_state
states               TransactionState and the moves that are legal
transaction          Transaction, one transactional id at a moment, and its steps
initialising         InitProducerId: ids and epochs
ending               EndTxn, in both versions of the protocol
markers              WriteMarkers, what the shell is ordered to do
listing              ListTransactions and DescribeTransactions
settings             TransactionSettings, the configs that transactions look at
transaction_records  TransactionRecord, what is written to the log, and its bytes
"""

from kbroker.txn.listing import TransactionFilter
from kbroker.txn.markers import WriteMarkers
from kbroker.txn.settings import TransactionSettings
from kbroker.txn.shard import TransactionShard, Verdict, Writer
from kbroker.txn.transaction_records import TransactionRecord, decode_record, encode_record

__all__ = [
    "TransactionFilter",
    "TransactionRecord",
    "TransactionSettings",
    "TransactionShard",
    "Verdict",
    "WriteMarkers",
    "Writer",
    "decode_record",
    "encode_record",
]
