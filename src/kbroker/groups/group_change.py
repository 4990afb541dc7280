"""What one request does to a consumer group: its records, and the group as they will leave it.

A request must not change a group; the replay of its records does. But it takes
several steps (a member changes, so the group gets a new epoch, so it gets a new
target, so the member moves), and each step builds on the one before. A
`GroupChange` is the group with the steps so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.groups import consumer_records
from kbroker.groups.consumer_group import is_old_enough
from kbroker.groups.reconciliation import Target, reconcile
from kbroker.groups.subscriptions import group_names, metadata_hash
from kbroker.groups.target_assignment import new_target

if TYPE_CHECKING:
    from collections.abc import Set

    from kbroker.groups.assignors import Partition, Partitions
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.consumer_members import ConsumerMember
    from kbroker.groups.group_records import GroupRecord
    from kbroker.groups.subscriptions import ResolvedRegex, TopicMatches


class GroupChange:
    """A group and what is about to be written about it."""

    def __init__(
        self, group: ConsumerGroup, matches: TopicMatches, now_ms: int, assignment_interval_ms: int
    ) -> None:
        self.group = group
        self.records: list[GroupRecord] = []
        self.group_epoch = group.group_epoch
        self._matches = matches
        self._topics = matches.topics
        self._now_ms = now_ms
        self._assignment_interval_ms = assignment_interval_ms
        self._assignment_epoch = group.assignment_epoch
        self._targets: dict[str, Partitions] = group.targets
        self._resolved: dict[str, ResolvedRegex] = group.resolved
        self._changed: dict[str, ConsumerMember | None] = {}

    def members(self) -> list[ConsumerMember]:
        """The members as they will be."""
        members = {**self.group.members, **self._changed}
        return [member for member in members.values() if member is not None]

    def update(self, old: ConsumerMember, new: ConsumerMember) -> bool:
        """Let a member be ``new``; whether it subscribes to something else than before."""
        is_known = new.member_id in self.group.members or new.member_id in self._changed
        self._changed[new.member_id] = new
        if new != old or not is_known:
            self.records.append(consumer_records.member_metadata(self.group.group_id, new))
        return new.topic_names != old.topic_names or new.topic_regex != old.topic_regex

    def remove(self, member_id: str) -> None:
        """Let a member be gone."""
        self._changed[member_id] = None
        self.records += consumer_records.member_gone(self.group.group_id, member_id)

    def replace(self, old: ConsumerMember, new: ConsumerMember) -> None:
        """Let a static member have a new id, and everything else of the old one."""
        group_id, target = self.group.group_id, self.group.target(old.member_id)
        self.remove(old.member_id)
        self._changed[new.member_id] = new
        self._targets = {**self._targets, new.member_id: target}
        self.records += (
            consumer_records.member_metadata(group_id, new),
            consumer_records.target_assignment(group_id, new.member_id, target),
            consumer_records.current_assignment(group_id, new),
        )

    def refresh(self, *, bump: bool) -> None:
        """Look at the topics again; a new epoch if they changed, or if ``bump`` asks for one."""
        group_id = self.group.group_id
        members = self.members()
        self._resolve({member.topic_regex for member in members} - {""})
        new_hash = metadata_hash(group_names(members, self._resolved), self._topics)
        if bump or new_hash != self.group.metadata_hash:
            self.group_epoch += 1
            if self.group.has_partition_metadata:
                self.records.append(consumer_records.partition_metadata_gone(group_id))
            self.records.append(consumer_records.group_epoch(group_id, self.group_epoch, new_hash))

    def assign(self, default_assignor: str) -> None:
        """Compute the target assignment, if it is behind the group's epoch and old enough.

        Until it is, the last one holds: whoever comes meanwhile is a member with nothing to do.
        The first heartbeat after the interval finds it old enough, so nothing has to wake up.
        """
        last_ms = self.group.assignment_timestamp_ms
        if self.group_epoch > self._assignment_epoch and is_old_enough(
            last_ms, self._now_ms, self._assignment_interval_ms
        ):
            self._targets, records = new_target(
                self.group,
                self.group_epoch,
                self.members(),
                self._resolved,
                self._topics,
                default_assignor,
                self._now_ms,
            )
            self._assignment_epoch = self.group_epoch
            self.records += records

    def reconcile(self, member: ConsumerMember, owned: Set[Partition] | None) -> ConsumerMember:
        """Lead a member one step towards its target. `RefusedError` if it must join anew."""
        if member.is_reconciled_to(self._assignment_epoch):
            return member
        moved = reconcile(
            member,
            Target(self._assignment_epoch, self._targets.get(member.member_id, frozenset())),
            lambda partition: self.group.is_held_by_other(partition, member),
            owned,
        )
        if moved != member:
            self._changed[moved.member_id] = moved
            self.records.append(consumer_records.current_assignment(self.group.group_id, moved))
        return moved

    def _resolve(self, wanted: set[str]) -> None:
        """Look at the expressions again, and drop those that nobody wants any more."""
        resolved = {}
        for regex in sorted(wanted):
            known = self.group.resolved.get(regex)
            again = self._matches.resolve(regex, self._now_ms)
            resolved[regex] = again if known is None or known.topics != again.topics else known
            if resolved[regex] is not known:
                self.records.append(
                    consumer_records.regular_expression(self.group.group_id, regex, resolved[regex])
                )
        for regex in sorted(self.group.resolved.keys() - wanted):
            self.records.append(
                consumer_records.regular_expression_gone(self.group.group_id, regex)
            )
        self._resolved = resolved
