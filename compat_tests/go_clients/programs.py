"""The Go clients as client programs; `make go` builds them."""

from collections.abc import Mapping

from compat_tests.go_clients import FRANZ_GO, KAFKA_GO, SARAMA
from compat_tests.program import ClientProgram
from compat_tests.python_programs import ROOT

_BINARIES = ROOT / ".cache" / "go" / "bin"


def _go_program(
    name: str, version: str, folder: str, not_applicable: Mapping[str, str]
) -> ClientProgram:
    binary = _BINARIES / folder
    return ClientProgram(
        name=name,
        version=version,
        folder=f"go_clients/{folder}",
        serve=(str(binary), "serve"),
        member=(str(binary), "member"),
        needs=binary,
        installed_by="make go",
        not_applicable=not_applicable,
    )


_NO_TRANSACTIONS = "kafka-go has requests of transactions, but no producer that takes part in them"
_CLASSIC_ONLY = "the client knows the classic protocol only"

PROGRAMS = (
    _go_program(
        "franz-go",
        FRANZ_GO,
        "franz_go",
        {
            "static member, KIP-848": "it leaves without its instance id: refused",
        },
    ),
    _go_program(
        "Sarama",
        SARAMA,
        "sarama",
        {
            "group: cooperative": "the client revokes everything at each rebalance",
            "group: KIP-848": _CLASSIC_ONLY,
            "static member, KIP-848": _CLASSIC_ONLY,
        },
    ),
    _go_program(
        "kafka-go",
        KAFKA_GO,
        "kafka_go",
        {
            "produce to a new topic": "the first write fails while the topic is created",
            "nulls": "the reader does not tell null from empty",
            "headers": "the reader does not tell null from empty",
            "null header": "the reader does not tell null from empty",
            "log append time": "the reader takes the producer's time for it",
            "idempotence": "the writer is not idempotent",
            "group: cooperative": "the client revokes everything at each rebalance",
            "group: KIP-848": _CLASSIC_ONLY,
            "static member": "the client knows no group.instance.id",
            "static member, KIP-848": _CLASSIC_ONLY,
            "transaction: commit": _NO_TRANSACTIONS,
            "transaction: abort": _NO_TRANSACTIONS,
            "transaction: open": _NO_TRANSACTIONS,
            "transaction: fence": _NO_TRANSACTIONS,
            "transaction: offsets": _NO_TRANSACTIONS,
            "admin: delete records": "the client does not have DeleteRecords",
        },
    ),
)
