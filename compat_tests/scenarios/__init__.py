"""What must hold for every client, written once.

records        what is sent is what is read: codecs, headers, times, sizes, idempotence
positions      where reading begins
groups         partitions are shared, handed over and read once
transactions   what is committed is seen, what is aborted is not
admin          topics, configs, offsets and groups come, change and go
errors         a client can say what was wrong
stage          what each of them is given

A scenario is a function whose docstring is its precise statement, with steps and outcome. The same
scenario runs on every client program (see ``program``), against kbroker and against Apache Kafka:
one that Apache Kafka fails is a wrong scenario.
"""

from collections.abc import Callable
from typing import NamedTuple

from compat_tests.scenarios import admin, errors, groups, positions, records, transactions
from compat_tests.scenarios.stage import Stage


class Scenario(NamedTuple):
    """One line of the matrix."""

    name: str
    run: Callable[[Stage], None]

    @property
    def statement(self) -> str:
        return " ".join((self.run.__doc__ or "").split())


SCENARIOS = (
    Scenario("produce", records.produce),
    Scenario("produce, acks=0", records.produce_without_acks),
    Scenario("produce to a new topic", records.produce_to_a_new_topic),
    Scenario("consume", records.consume),
    Scenario("compress: gzip", records.gzip),
    Scenario("compress: snappy", records.snappy),
    Scenario("compress: lz4", records.lz4),
    Scenario("compress: zstd", records.zstd),
    Scenario("nulls", records.nulls),
    Scenario("headers", records.headers),
    Scenario("null header", records.null_header),
    Scenario("create time", records.create_time),
    Scenario("log append time", records.log_append_time),
    Scenario("large", records.large),
    Scenario("many partitions", records.many_partitions),
    Scenario("idempotence", records.idempotence),
    Scenario("seek", positions.seek),
    Scenario("seek in a batch", positions.seek_in_batch),
    Scenario("watermarks", positions.watermarks),
    Scenario("by time", positions.by_time),
    Scenario("group: resume", groups.resume),
    Scenario("group: eager", groups.eager),
    Scenario("group: cooperative", groups.cooperative),
    Scenario("group: KIP-848", groups.consumer_protocol),
    Scenario("static member", groups.static),
    Scenario("static member, KIP-848", groups.static_in_consumer_protocol),
    Scenario("transaction: commit", transactions.commit),
    Scenario("transaction: abort", transactions.abort),
    Scenario("transaction: open", transactions.open_transaction),
    Scenario("transaction: fence", transactions.fence),
    Scenario("transaction: offsets", transactions.offsets),
    Scenario("admin: create", admin.create),
    Scenario("admin: describe configs", admin.describe_configs),
    Scenario("admin: alter configs", admin.alter_configs),
    Scenario("admin: partitions", admin.create_partitions),
    Scenario("admin: delete", admin.delete),
    Scenario("admin: delete records", admin.delete_records),
    Scenario("admin: cluster", admin.cluster),
    Scenario("admin: groups", admin.groups),
    Scenario("error: topic exists", errors.topic_exists),
    Scenario("error: unknown topic", errors.unknown_topic),
    Scenario("error: invalid topic", errors.invalid_topic),
    Scenario("error: invalid config", errors.invalid_config),
    Scenario("error: fewer partitions", errors.fewer_partitions),
    Scenario("error: too large", errors.too_large),
    Scenario("error: offset out of range", errors.offset_out_of_range),
)

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}

# Those that begin so take seconds each, for members that join, leave and are killed.
OF_MEMBERS = tuple(
    scenario.name
    for scenario in SCENARIOS
    if scenario.run.__module__.endswith(".groups") and scenario.run is not groups.resume
)
