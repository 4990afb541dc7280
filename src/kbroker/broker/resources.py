"""Which operations there are on which kind of resource, as the bits that clients are told.

Where no authoriser is configured, everyone may do everything, and this is the answer. The numbers
of the operations are those of Kafka's AclOperation.
"""

from enum import IntEnum


class Operation(IntEnum):
    """What somebody may be allowed to do."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


# What is said about ACLs as long as nobody enforces any.
NO_AUTHORISER = "No Authorizer is configured"


def operation_bits(*operations: Operation) -> int:
    """The set of ``operations`` as one number."""
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS = operation_bits(
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
CLUSTER_OPERATIONS = operation_bits(
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)
GROUP_OPERATIONS = operation_bits(
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
