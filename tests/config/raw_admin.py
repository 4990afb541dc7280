"""DescribeConfigs and IncrementalAlterConfigs as plain requests, with kio's codec.

Client libraries hide half of the answer (types, documentation, exact messages), and that half is
what these tests compare.
"""

import socket
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from typing import TypeVar

from kio.schema.create_topics.v7 import request as create_topics
from kio.schema.create_topics.v7.response import CreateTopicsResponse
from kio.schema.describe_configs.v4 import request as describe
from kio.schema.describe_configs.v4.response import DescribeConfigsResponse, DescribeConfigsResult
from kio.schema.incremental_alter_configs.v1 import request as alter
from kio.schema.incremental_alter_configs.v1.response import IncrementalAlterConfigsResponse
from kio.schema.types import TopicName
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i8, i16, i32, i32Timedelta

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32

Response = TypeVar("Response")


@dataclass(frozen=True)
class RawAdmin:
    """Asks one broker, a connection per question."""

    port: int

    def create_topic(self, name: str) -> None:
        topic = create_topics.CreatableTopic(
            name=TopicName(name),
            num_partitions=i32(1),
            replication_factor=i16(1),
            assignments=(),
            configs=(),
        )
        timeout = i32Timedelta.parse(timedelta(seconds=30))
        request = create_topics.CreateTopicsRequest(topics=(topic,), timeout=timeout)
        answer = self._ask(19, 7, request, CreateTopicsResponse)
        assert answer.topics[0].error_code == 0, answer

    def describe(self, resource_type: int, name: str) -> DescribeConfigsResult:
        resource = describe.DescribeConfigsResource(
            resource_type=i8(resource_type), resource_name=name, configuration_keys=None
        )
        request = describe.DescribeConfigsRequest(
            resources=(resource,), include_synonyms=True, include_documentation=True
        )
        return self._ask(32, 4, request, DescribeConfigsResponse).results[0]

    def alter(
        self, resource_type: int, name: str, changes: Sequence[tuple[str, int, str | None]]
    ) -> tuple[int, str | None]:
        """The error code and message of an incremental change."""
        configs = tuple(
            alter.AlterableConfig(name=config, config_operation=i8(operation), value=value)
            for config, operation, value in changes
        )
        resource = alter.AlterConfigsResource(
            resource_type=i8(resource_type), resource_name=name, configs=configs
        )
        request = alter.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
        result = self._ask(44, 1, request, IncrementalAlterConfigsResponse).responses[0]
        return int(result.error_code), result.error_message

    def _ask(
        self, api_key: int, version: int, request: object, response: type[Response]
    ) -> Response:
        body = BytesIO()
        entity_writer(type(request))(body, request)
        # Header version 2: key, version, correlation id, no client id, no tagged fields.
        header = (
            api_key.to_bytes(2, "big") + version.to_bytes(2, "big") + bytes(4) + b"\xff\xff\x00"
        )
        message = header + body.getvalue()
        with closing(socket.create_connection(("127.0.0.1", self.port), timeout=60)) as connection:
            connection.sendall(len(message).to_bytes(4, "big") + message)
            stream = connection.makefile("rb")
            answer = stream.read(int.from_bytes(stream.read(4), "big"))
        # Header version 1: correlation id and no tagged fields.
        entity, _ = entity_reader(response)(answer, 5)
        return entity
