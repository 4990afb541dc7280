"""Server-side assignors (KIP-848): who of a group shall read which partition.

spec     MemberSpec and the other shapes an assignor is given and gives back
uniform  balances the number of partitions, and moves as few of them as it can
range    gives each member the same range of every topic
"""

from collections.abc import Mapping
from types import MappingProxyType

from kbroker.groups.assignors.range import assign_range
from kbroker.groups.assignors.spec import Assignor, MemberSpec, Partition, Partitions
from kbroker.groups.assignors.uniform import assign_uniform

# Under the names that clients send and group.consumer.assignors lists.
ASSIGNORS: Mapping[str, Assignor] = MappingProxyType(
    {"uniform": assign_uniform, "range": assign_range}
)

__all__ = ["ASSIGNORS", "Assignor", "MemberSpec", "Partition", "Partitions"]
