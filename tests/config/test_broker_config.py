import pytest

from kbroker.config import BrokerConfig, ConfigError, Listener
from kbroker.config.values import Password

KRAFT_PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "7",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "inter.broker.listener.name": "PLAINTEXT",
    "advertised.listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "num.network.threads": "3",
    "log.dirs": "/data/a,/data/b",
    "num.partitions": "6",
    "log.retention.hours": "168",
}


def test_without_anything_set_the_values_are_kafkas_defaults():
    config = BrokerConfig.of({})

    assert config.get_int("num.partitions") == 1
    assert config.get_bool("auto.create.topics.enable") is True
    assert config.get_float("log.cleaner.min.cleanable.ratio") == 0.5
    assert config.get_text("compression.type") == "producer"
    assert config.get_text("broker.rack") is None
    assert config.get_list("log.cleanup.policy") == ("delete",)
    assert config.get_list("advertised.listeners") == ()
    assert config.get_secret("ssl.keystore.password") is None
    assert config.value("log.retention.ms") is None
    assert config.node_id == 1
    assert config.log_dirs == ("/tmp/kafka-logs",)
    assert config.listeners == (Listener("PLAINTEXT", "PLAINTEXT", "", 9092),)
    assert config.unknown == ()


def test_a_server_properties_for_kraft_works_as_it_is():
    config = BrokerConfig.of(KRAFT_PROPERTIES)

    assert config.node_id == 7
    assert config.log_dirs == ("/data/a", "/data/b")
    assert config.get_int("num.partitions") == 6
    assert config.listeners == (Listener("PLAINTEXT", "PLAINTEXT", "", 9092),)
    assert config.advertised_listeners == (Listener("PLAINTEXT", "PLAINTEXT", "localhost", 9092),)
    assert config.unknown == ()


def test_a_controllers_listener_needs_no_protocol_while_none_are_set():
    properties = dict(KRAFT_PROPERTIES)
    del properties["listener.security.protocol.map"]

    assert [one.name for one in BrokerConfig.of(properties).listeners] == ["PLAINTEXT"]


def test_unknown_names_are_collected_and_do_no_harm():
    config = BrokerConfig.of({"confluent.thing": "1", "num.partitions": "2"})

    assert config.unknown == ("confluent.thing",)
    assert config.get_int("num.partitions") == 2


def test_a_wrong_static_value_is_one_clear_error():
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.of({"num.partitions": "many"})

    assert str(caught.value) == (
        "Invalid value many for configuration num.partitions: Not a number of type INT"
    )


def test_the_error_about_a_listeners_config_has_its_full_name():
    with pytest.raises(ConfigError, match=r"for configuration listener\.name\.a\.max\.connections"):
        BrokerConfig.of({"listener.name.a.max.connections": "many"})


def test_the_layers_are_asked_from_the_nearest_to_the_default():
    name = "log.segment.bytes"
    static, for_all, own = {name: "2000000"}, {name: "3000000"}, {name: "4000000"}

    assert BrokerConfig.of(static).get_int(name) == 2_000_000
    assert BrokerConfig.of(static, default_overrides=for_all).get_int(name) == 3_000_000
    config = BrokerConfig.of(static, default_overrides=for_all, overrides=own)
    assert config.get_int(name) == 4_000_000
    assert config.with_dynamic(default_overrides={}, overrides={}).get_int(name) == 2_000_000


def test_a_dynamic_value_beats_its_static_synonyms():
    config = BrokerConfig.of(
        {"log.retention.minutes": "5"}, default_overrides={"log.retention.ms": "1000"}
    )

    assert config.value("log.retention.ms") == 1000
    assert config.value("log.retention.minutes") is None


def test_a_dynamic_value_that_cannot_be_is_passed_over_and_named():
    config = BrokerConfig.of(
        {},
        default_overrides={"log.segment.bytes": "tiny", "listeners": "PLAINTEXT://:1"},
        overrides={"num.partitions": "9", "num.io.threads": "4"},
    )

    assert config.ignored == ("log.segment.bytes", "listeners", "num.partitions")
    assert config.get_int("log.segment.bytes") == 1 << 30
    assert config.get_int("num.partitions") == 1
    assert config.get_int("num.io.threads") == 4


def test_the_old_name_of_the_node_id_still_works():
    assert BrokerConfig.of({"broker.id": "5"}).node_id == 5
    with pytest.raises(ConfigError, match=r"You must set `node"):
        BrokerConfig.of({"broker.id": "5", "node.id": "6"})


def test_a_listener_has_its_own_values_or_those_of_all():
    config = BrokerConfig.of(
        {
            "ssl.client.auth": "none",
            "listener.name.internal.ssl.client.auth": "required",
            "listener.name.internal.plain.sasl.jaas.config": "secret",
        }
    )

    assert config.listener_value("INTERNAL", "ssl.client.auth") == "required"
    assert config.listener_value("EXTERNAL", "ssl.client.auth") == "none"
    jaas = config.listener_value("INTERNAL", "sasl.jaas.config", mechanism="PLAIN")
    assert jaas == Password("secret")
    assert config.listener_value("INTERNAL", "sasl.jaas.config", mechanism="OTHER") is None


def test_brokers_reach_each_other_through_the_listener_of_that_name():
    listeners = {
        "listeners": "CLIENTS://a:1,BROKERS://b:2",
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT",
    }
    named = BrokerConfig.of(listeners | {"inter.broker.listener.name": "BROKERS"})

    assert named.inter_broker_listener.port == 2
    assert BrokerConfig.of(listeners).inter_broker_listener.port == 1


def test_limits_for_single_addresses_are_read():
    config = BrokerConfig.of({"max.connections.per.ip.overrides": "10.0.0.1:5, ::1:7"})

    assert config.max_connections_per_ip_overrides == {"10.0.0.1": 5, "::1": 7}


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"log.retention.ms": "0"}, "log.retention.ms must be unlimited (-1) or"),
        ({"log.retention.minutes": "0"}, "log.retention.ms must be unlimited (-1) or"),
        ({"log.roll.ms": "0"}, "log.roll.ms must be greater than or equal to 1"),
        ({"log.roll.jitter.ms": "-1"}, "log.roll.jitter.ms must be greater than or equal to 0"),
        ({"replica.fetch.wait.max.ms": "40000"}, "replica.socket.timeout.ms should always be"),
        ({"replica.lag.time.max.ms": "100"}, "replica.fetch.wait.max.ms should always be less"),
        ({"broker.heartbeat.interval.ms": "5000"}, "must be less than or equal to half"),
        ({"connections.max.idle.ms": "50"}, "connection.failed.authentication.delay.ms=100"),
        ({"max.connections.per.ip": "0"}, "max.connections.per.ip can be set to zero only if"),
        ({"max.connections.per.ip.overrides": "host"}, "each entry must be host:count"),
        ({"cordoned.log.dirs": "*,/a"}, "When cordoned.log.dirs is set to *"),
        ({"cordoned.log.dirs": "/a"}, "Missing entries : /a"),
        ({"inter.broker.listener.name": "SSL"}, "inter.broker.listener.name must be a listener"),
        (
            {"listeners": "SASL_SSL://:1", "security.inter.broker.protocol": "SASL_SSL"}
            | {"sasl.enabled.mechanisms": "PLAIN"},
            "sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms",
        ),
        (
            {"group.streams.num.standby.replicas": "3"},
            "group.streams.num.standby.replicas must be less than or equal to group.streams.max",
        ),
        ({"controller.listener.names": "PLAINTEXT"}, "at least one broker advertised listener"),
        (
            {"log.cleaner.min.compaction.lag.ms": "9", "log.cleaner.max.compaction.lag.ms": "8"},
            "conflict topic config setting min.compaction.lag.ms (9) > max.compaction.lag.ms (8)",
        ),
        (
            {"group.consumer.max.heartbeat.interval.ms": "1"},
            (
                "group.consumer.max.heartbeat.interval.ms must be greater than or equal to "
                "group.consumer.min.heartbeat.interval.ms"
            ),
        ),
        (
            {"group.consumer.session.timeout.ms": "60001"},
            (
                "group.consumer.session.timeout.ms must be less than or equal to "
                "group.consumer.max.session.timeout.ms"
            ),
        ),
        (
            {"group.share.heartbeat.interval.ms": "4000"},
            (
                "group.share.heartbeat.interval.ms must be greater than or equal to "
                "group.share.min.heartbeat.interval.ms"
            ),
        ),
    ],
)
def test_configs_that_contradict_each_other_are_refused(properties, problem):
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.of(properties)

    assert problem in str(caught.value)
