"""confluent-kafka as client programs: the newest version, and one that users still have."""

from compat_tests.confluent_kafka import OLDER_VERSION, VERSION
from compat_tests.python_programs import python_program

PROGRAMS = (
    python_program("confluent-kafka", VERSION, "confluent_kafka"),
    python_program(
        "confluent-kafka",
        OLDER_VERSION,
        "confluent_kafka",
        older=True,
        not_applicable={
            "group: KIP-848": "group.protocol came with 2.4",
            "static member, KIP-848": "group.protocol came with 2.4",
            "admin: delete records": "delete_records came with 2.6",
        },
    ),
)
