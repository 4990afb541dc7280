"""kafka-python as client programs: the newest version, and one that users still have."""

from compat_tests.kafka_python import OLDER_VERSION, VERSION
from compat_tests.python_programs import python_program

_CLASSIC_ONLY = "the client knows the classic protocol only"
_NO_TRANSACTIONS = "transactions came with 2.1"

PROGRAMS = (
    python_program(
        "kafka-python",
        VERSION,
        "kafka_python",
        not_applicable={
            "group: KIP-848": _CLASSIC_ONLY,
            "static member, KIP-848": _CLASSIC_ONLY,
        },
    ),
    python_program(
        "kafka-python",
        OLDER_VERSION,
        "kafka_python",
        adapter="adapter_2_0",
        older=True,
        not_applicable={
            "large": "its checksum of 10 MB in pure Python takes longer than it waits",
            "idempotence": "the idempotent producer came with 2.1",
            "group: cooperative": "cooperative rebalancing came with 3.0",
            "group: KIP-848": _CLASSIC_ONLY,
            "static member": "group_instance_id came with 2.3",
            "static member, KIP-848": _CLASSIC_ONLY,
            "transaction: commit": _NO_TRANSACTIONS,
            "transaction: abort": _NO_TRANSACTIONS,
            "transaction: open": _NO_TRANSACTIONS,
            "transaction: fence": _NO_TRANSACTIONS,
            "transaction: offsets": _NO_TRANSACTIONS,
            "admin: delete records": "delete_records came with 2.1",
        },
    ),
)
