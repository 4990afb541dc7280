"""aiokafka as client programs: the newest version, and one that users still have."""

from compat_tests.aiokafka import OLDER_VERSION, VERSION
from compat_tests.python_programs import python_program

_CLASSIC_ONLY = "the client knows the classic protocol only"
_NOT_APPLICABLE = {
    "group: cooperative": "the client revokes everything at each rebalance",
    "group: KIP-848": _CLASSIC_ONLY,
    "static member, KIP-848": _CLASSIC_ONLY,
    "admin: groups": "the admin client cannot delete groups",
}

PROGRAMS = (
    python_program("aiokafka", VERSION, "aiokafka", not_applicable=_NOT_APPLICABLE),
    python_program(
        "aiokafka",
        OLDER_VERSION,
        "aiokafka",
        older=True,
        not_applicable={
            **_NOT_APPLICABLE,
            "admin: delete records": "delete_records came with 0.11",
        },
    ),
)
