"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs, ListConfigResources, UpdateFeatures and
FindCoordinator."""

from collections.abc import Mapping, Sequence

from compat_tests.differential.run import Run
from kbroker.wire.messages import alter_configs as setting
from kbroker.wire.messages import describe_configs as describing
from kbroker.wire.messages import incremental_alter_configs as altering
from kbroker.wire.messages.find_coordinator import FindCoordinatorRequest
from kbroker.wire.messages.list_config_resources import ListConfigResourcesRequest
from kbroker.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest

UNKNOWN, TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 0, 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


def describe_configs(run: Run) -> None:
    run.create("described", configs={"retention.ms": "1000", "cleanup.policy": "compact"})
    for version in range(1, 5):
        _describe(run, f"configs of a topic v{version}", (TOPIC, "described"), version=version)
    _describe(run, "configs of a topic with synonyms", (TOPIC, "described"), synonyms=True)
    _describe(run, "configs of a topic with documentation", (TOPIC, "described"), words=True)
    for kind, keys in (
        ("two keys", ["retention.ms", "segment.bytes"]),
        ("an unknown key", ["no.such.config"]),
        ("no keys", []),
        ("one key twice", ["retention.ms", "retention.ms"]),
    ):
        _describe(run, f"configs of a topic by {kind}", (TOPIC, "described"), keys=keys)
    _describe(run, "configs of the broker", (BROKER, "1"))
    _describe(run, "configs of the broker with synonyms", (BROKER, "1"), synonyms=True)
    keys = ["log.retention.ms", "log.retention.hours", "num.partitions"]
    _describe(run, "configs of the broker by keys", (BROKER, "1"), keys=keys, synonyms=True)
    _describe(run, "configs of all brokers", (BROKER, ""))
    for kind, resource in (
        ("an unknown topic", (TOPIC, "nowhere")),
        ("an invalid topic", (TOPIC, "a b")),
        ("a topic without name", (TOPIC, "")),
        ("another broker", (BROKER, "7")),
        ("a broker that is no number", (BROKER, "one")),
        ("an unknown type", (UNKNOWN, "x")),
        ("type 3", (3, "x")),
        ("type 99", (99, "x")),
        ("another broker's loggers", (LOGGER, "7")),
        ("a group", (GROUP, "g")),
        ("a group without name", (GROUP, "")),
        ("client metrics", (CLIENT_METRICS, "m")),
        ("client metrics without name", (CLIENT_METRICS, "")),
    ):
        _describe(run, f"configs of {kind}", resource)
    _describe(run, "configs of good and bad", (TOPIC, "described"), (TOPIC, "nowhere"))
    _describe(run, "configs of nothing")
    _describe(run, "configs of a topic twice", (TOPIC, "described"), (TOPIC, "described"))


def _describe(
    run: Run,
    name: str,
    *resources: tuple[int, str],
    keys: list[str] | None = None,
    synonyms: bool = False,
    words: bool = False,
    version: int = 4,
) -> None:
    request = describing.DescribeConfigsRequest(
        resources=[
            describing.DescribeConfigsResource(
                resource_type=kind, resource_name=resource, configuration_keys=keys
            )
            for kind, resource in resources
        ],
        include_synonyms=synonyms,
        include_documentation=words,
    )
    run.ask(name, request, version)


def alter_configs(run: Run) -> None:
    run.create("set")
    for version in range(3):
        value = str(1000 + version)
        _set(run, f"set configs v{version}", TOPIC, "set", {"retention.ms": value}, version=version)
        wait_for_config(run, "set", "retention.ms", value)
    _set(run, "set another config", TOPIC, "set", {"segment.bytes": "1048576"})
    wait_for_config(run, "set", "segment.bytes", "1048576")
    keys = ["retention.ms", "segment.bytes"]
    _describe(run, "configs after setting", (TOPIC, "set"), keys=keys)
    for kind, resource, configs in (
        ("nothing", (TOPIC, "set"), {}),
        ("an unknown config", (TOPIC, "set"), {"no.such.config": "1"}),
        ("a bad value", (TOPIC, "set"), {"retention.ms": "soon"}),
        ("a null", (TOPIC, "set"), {"retention.ms": None}),
        ("a config of an unknown topic", (TOPIC, "nowhere"), {"retention.ms": "1"}),
        ("a config of an invalid topic", (TOPIC, "a b"), {"retention.ms": "1"}),
        ("a config of an unknown type", (UNKNOWN, "x"), {"a": "b"}),
        ("a config of type 99", (99, "x"), {"a": "b"}),
        ("a config of another broker", (BROKER, "7"), {"log.retention.ms": "1"}),
        ("a config of a broker that is no number", (BROKER, "x"), {"log.retention.ms": "1"}),
        ("a read-only config of the broker", (BROKER, "1"), {"node.id": "9"}),
        ("a logger", (LOGGER, "1"), {"root": "INFO"}),
    ):
        _set(run, f"set {kind}", *resource, configs)
    _set(run, "only validate a config", TOPIC, "set", {"retention.ms": "5"}, validate_only=True)
    run.ask("set no configs", setting.AlterConfigsRequest(), 2)
    twice = [_to_set(TOPIC, "set", {"retention.ms": one}) for one in ("1", "2")]
    # Kafka 4.3.1 never answers.
    run.send("set one topic twice", setting.AlterConfigsRequest(resources=twice), 2)


def _set(
    run: Run,
    name: str,
    kind: int,
    resource: str,
    configs: Mapping[str, str | None],
    *,
    version: int = 2,
    validate_only: bool = False,
) -> None:
    request = setting.AlterConfigsRequest(
        resources=[_to_set(kind, resource, configs)], validate_only=validate_only
    )
    run.ask(name, request, version)


def _to_set(
    kind: int, resource: str, configs: Mapping[str, str | None]
) -> setting.AlterConfigsResource:
    return setting.AlterConfigsResource(
        resource_type=kind,
        resource_name=resource,
        configs=[setting.AlterableConfig(name=one, value=value) for one, value in configs.items()],
    )


def incremental_alter_configs(run: Run) -> None:
    run.create("altered", configs={"segment.bytes": "1048576"})
    for version in range(2):
        value = str(1000 + version)
        name = f"alter configs v{version}"
        alter(run, name, TOPIC, "altered", ("retention.ms", SET, value), version=version)
        wait_for_config(run, "altered", "retention.ms", value)
    alter(run, "append a policy", TOPIC, "altered", ("cleanup.policy", APPEND, "compact"))
    wait_for_config(run, "altered", "cleanup.policy", "delete,compact")
    alter(run, "append what is there", TOPIC, "altered", ("cleanup.policy", APPEND, "compact"))
    alter(run, "subtract a policy", TOPIC, "altered", ("cleanup.policy", SUBTRACT, "delete"))
    wait_for_config(run, "altered", "cleanup.policy", "compact")
    alter(
        run, "subtract what is not there", TOPIC, "altered", ("cleanup.policy", SUBTRACT, "delete")
    )
    alter(run, "delete a config", TOPIC, "altered", ("retention.ms", DELETE, None))
    wait_for_config(run, "altered", "retention.ms", "604800000")
    alter(run, "delete what is not set", TOPIC, "altered", ("retention.bytes", DELETE, None))
    keys = ["retention.ms", "segment.bytes", "cleanup.policy"]
    _describe(run, "configs after altering", (TOPIC, "altered"), keys=keys, synonyms=True)
    one_twice = (("retention.ms", SET, "1"), ("retention.ms", SET, "2"))
    alter(run, "alter one config twice", TOPIC, "altered", *one_twice)
    name = "only validate an alteration"
    alter(run, name, TOPIC, "altered", ("retention.ms", SET, "7"), validate_only=True)
    run.ask("alter nothing", altering.IncrementalAlterConfigsRequest(), 1)
    twice = [_to_alter(TOPIC, "altered", [("retention.ms", SET, one)]) for one in ("1", "2")]
    run.ask("alter one topic twice", altering.IncrementalAlterConfigsRequest(resources=twice), 1)


def alter_all_kinds(run: Run) -> None:
    """Bad changes to topics, and changes to whatever else has configs."""
    for kind, resource, change in (
        ("append to no list", (TOPIC, "altered"), ("retention.ms", APPEND, "1")),
        ("a null to set", (TOPIC, "altered"), ("retention.ms", SET, None)),
        ("an unknown config", (TOPIC, "altered"), ("no.such.config", SET, "1")),
        ("an unknown config to delete", (TOPIC, "altered"), ("no.such.config", DELETE, None)),
        ("no number", (TOPIC, "altered"), ("retention.ms", SET, "soon")),
        ("no policy", (TOPIC, "altered"), ("cleanup.policy", SUBTRACT, "compact")),
        ("an unknown policy", (TOPIC, "altered"), ("cleanup.policy", APPEND, "forget")),
        ("no name", (TOPIC, "altered"), ("", SET, "1")),
        ("an unknown topic", (TOPIC, "nowhere"), ("retention.ms", SET, "1")),
        ("an unknown type", (UNKNOWN, "x"), ("retention.ms", SET, "1")),
        ("type 99", (99, "x"), ("retention.ms", SET, "1")),
        ("another broker", (BROKER, "7"), ("log.retention.ms", SET, "1")),
        ("a broker's read-only config", (BROKER, "1"), ("node.id", SET, "9")),
        ("a broker's unknown config", (BROKER, "1"), ("my.own.config", SET, "9")),
        ("a broker's bad value", (BROKER, "1"), ("log.retention.ms", SET, "soon")),
        ("a broker's config", (BROKER, "1"), ("log.retention.ms", SET, "700000000")),
        ("all brokers' config", (BROKER, ""), ("log.retention.ms", SET, "800000000")),
        ("a group's config", (GROUP, "g"), ("consumer.session.timeout.ms", SET, "46000")),
        ("a group's unknown config", (GROUP, "g"), ("no.such.config", SET, "1")),
        ("a nameless group", (GROUP, ""), ("consumer.session.timeout.ms", SET, "46000")),
        ("client metrics", (CLIENT_METRICS, "m"), ("interval.ms", SET, "1000")),
        ("client metrics' bad value", (CLIENT_METRICS, "m"), ("interval.ms", SET, "x")),
        ("an unknown logger", (LOGGER, "1"), ("no.such.logger", SET, "INFO")),
        ("a logger of another broker", (LOGGER, "7"), ("root", SET, "INFO")),
        ("a logger to an unknown level", (LOGGER, "1"), ("root", SET, "LOUD")),
    ):
        alter(run, f"alter {kind}", *resource, change)
    wait_for_config(run, "altered", "retention.ms", "700000000")
    wait_for_config(run, "", "log.retention.ms", "800000000", kind=BROKER)
    wait_for_config(run, "m", "interval.ms", "1000", kind=CLIENT_METRICS)
    keys = ["log.retention.ms"]
    _describe(run, "the broker's config afterwards", (BROKER, "1"), keys=keys, synonyms=True)
    _describe(run, "all brokers' config afterwards", (BROKER, ""), synonyms=True)
    _describe(
        run, "a topic's config afterwards", (TOPIC, "altered"), keys=["retention.ms"], synonyms=True
    )
    _describe(run, "the group's configs afterwards", (GROUP, "g"), synonyms=True)
    _describe(run, "client metrics afterwards", (CLIENT_METRICS, "m"), synonyms=True)


def unknown_operations(run: Run) -> None:
    """The last step: Kafka's controller takes it for a fault of its own, and resigns."""
    alter(run, "alter by operation 4", TOPIC, "altered", ("retention.ms", 4, "1"))


def alter(
    run: Run,
    name: str,
    kind: int,
    resource: str,
    *changes: tuple[str, int, str | None],
    version: int = 1,
    validate_only: bool = False,
) -> None:
    request = altering.IncrementalAlterConfigsRequest(
        resources=[_to_alter(kind, resource, changes)], validate_only=validate_only
    )
    run.ask(name, request, version)


def _to_alter(
    kind: int, resource: str, changes: Sequence[tuple[str, int, str | None]]
) -> altering.AlterConfigsResource:
    return altering.AlterConfigsResource(
        resource_type=kind,
        resource_name=resource,
        configs=[
            altering.AlterableConfig(name=name, config_operation=operation, value=value)
            for name, operation, value in changes
        ],
    )


def wait_for_config(run: Run, resource: str, name: str, value: str, *, kind: int = TOPIC) -> None:
    """Wait until the broker describes a config with this value, and obeys it."""
    request = describing.DescribeConfigsRequest(
        resources=[
            describing.DescribeConfigsResource(
                resource_type=kind, resource_name=resource, configuration_keys=[name]
            )
        ]
    )

    def is_known() -> bool:
        [result] = run.quietly(request, describing.DescribeConfigsResponse, 4).results
        return [one.value for one in result.configs] == [value]

    run.wait_until(f"{name} of {resource} is {value}", is_known)
    run.settle()


def list_config_resources(run: Run) -> None:
    run.ask("config resources v0", ListConfigResourcesRequest(), 0)
    for types in ([], [GROUP], [CLIENT_METRICS], [BROKER, LOGGER], [TOPIC], [UNKNOWN], [99]):
        request = ListConfigResourcesRequest(resource_types=types)
        run.ask(f"config resources of {types}", request, 1)


def update_features(run: Run) -> None:
    for version in range(3):
        for kind, feature, level, upgrade in (
            ("an unknown feature", "no.such.feature", 1, 1),
            ("a level beyond all", "metadata.version", 999, 1),
            ("a negative level", "metadata.version", -1, 1),
            ("no feature's name", "", 1, 1),
        ):
            _update(run, f"update {kind} v{version}", (feature, level, upgrade), version=version)
        _update(run, f"update nothing v{version}", version=version)
    for upgrade in (0, 4):
        _update(run, f"update with type {upgrade}", ("metadata.version", 30, upgrade))
    _update(run, "downgrade what is unknown", ("no.such.feature", 0, 2))
    twice = (("metadata.version", 999, 1), ("metadata.version", 998, 1))
    _update(run, "update one feature twice", *twice)


def _update(run: Run, name: str, *updates: tuple[str, int, int], version: int = 2) -> None:
    wanted = [
        FeatureUpdateKey(
            feature=feature, max_version_level=level, upgrade_type=upgrade if version else 1
        )
        for feature, level, upgrade in updates
    ]
    run.ask(name, UpdateFeaturesRequest(feature_updates=wanted, timeout_ms=5000), version)


def find_coordinator(run: Run) -> None:
    for key_type in (-1, 3, 99):
        for version in (1, 3):
            request = FindCoordinatorRequest(key="g", key_type=key_type)
            run.ask(f"coordinator of type {key_type} v{version}", request, version)
        for version in (4, 6):
            request = FindCoordinatorRequest(coordinator_keys=["g", "h"], key_type=key_type)
            run.ask(f"coordinators of type {key_type} v{version}", request, version)
    for key_type in (0, 1):
        request = FindCoordinatorRequest(coordinator_keys=[], key_type=key_type)
        run.ask(f"coordinators of type {key_type} for nobody", request, 4)
    request = FindCoordinatorRequest(coordinator_keys=["g"], key_type=2)
    run.ask("share coordinator of a bad key", request, 6)
    run.ask("share coordinator of a bad version", request, 5)
