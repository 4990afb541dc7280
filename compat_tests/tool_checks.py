"""Tools that are programs of their own: what they must do, on both brokers.

A check is a function of the broker's address and a folder of its own; it raises what is wrong.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tools.apache_kafka import KAFKA_VERSION

from compat_tests.kafka_connect import checks as connect
from compat_tests.kafka_console import VERSION as CONSOLE_VERSION
from compat_tests.kafka_console import checks as console
from compat_tests.kafka_streams import checks as streams
from compat_tests.mirror_maker import checks as mirror_maker


class ToolCheck(NamedTuple):
    """One line of the tools' table."""

    tool: str
    name: str
    run: Callable[[str, Path], None]

    @property
    def label(self) -> str:
        return f"{self.tool} {self.name}".replace(" ", "-")

    @property
    def statement(self) -> str:
        return " ".join((self.run.__doc__ or "").split())


CHECKS = (
    ToolCheck(f"Kafka Streams {KAFKA_VERSION}", "at least once", streams.at_least_once),
    ToolCheck(f"Kafka Streams {KAFKA_VERSION}", "exactly_once_v2", streams.exactly_once),
    ToolCheck(f"Kafka Connect {KAFKA_VERSION}", "distributed", connect.distributed),
    ToolCheck(f"MirrorMaker {KAFKA_VERSION}", "both ways", mirror_maker.both_ways),
    ToolCheck(
        f"kafka-console {CONSOLE_VERSION}", "topics and a group", console.topics_records_and_groups
    ),
)
