from kbroker.config import BrokerConfig
from kbroker.config.broker_configs import BROKER_CONFIGS
from kbroker.config.describe import (
    ConfigSource,
    DescribedConfig,
    DescribedSynonym,
    describe_broker,
    describe_broker_defaults,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from kbroker.config.topic_configs import TOPIC_CONFIGS
from kbroker.config.values import ConfigType

SEGMENT_BYTES = "log.segment.bytes"


def only(configs: list[DescribedConfig]) -> DescribedConfig:
    assert len(configs) == 1
    return configs[0]


def test_a_topic_shows_every_config_that_is_not_internal():
    shown = describe_topic(BrokerConfig.of({}), {})

    assert len(shown) == 33
    assert {config.name for config in shown} == TOPIC_CONFIGS.keys() - {"internal.segment.bytes"}
    assert all(config.source is ConfigSource.DEFAULT for config in shown)
    assert all(config.documentation and not config.read_only for config in shown)
    assert all(config.value is not None for config in shown)


def test_an_internal_config_is_shown_where_somebody_set_it():
    shown = describe_topic(BrokerConfig.of({}), {"internal.segment.bytes": "9"})

    assert "internal.segment.bytes" in {config.name for config in shown}


def test_the_synonyms_tell_every_place_in_order():
    broker = BrokerConfig.of(
        {SEGMENT_BYTES: "2000000"},
        default_overrides={SEGMENT_BYTES: "3000000"},
        overrides={SEGMENT_BYTES: "4000000"},
    )

    config = only(describe_topic(broker, {"segment.bytes": " 5000000"}, ["segment.bytes"]))

    assert config.value == "5000000"
    assert config.source is ConfigSource.DYNAMIC_TOPIC
    assert config.type is ConfigType.INT
    assert config.synonyms == (
        DescribedSynonym("segment.bytes", "5000000", ConfigSource.DYNAMIC_TOPIC),
        DescribedSynonym(SEGMENT_BYTES, "4000000", ConfigSource.DYNAMIC_BROKER),
        DescribedSynonym(SEGMENT_BYTES, "3000000", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        DescribedSynonym(SEGMENT_BYTES, "2000000", ConfigSource.STATIC_BROKER),
        DescribedSynonym(SEGMENT_BYTES, "1073741824", ConfigSource.DEFAULT),
    )


def test_the_source_of_a_value_from_another_unit_is_the_default_as_in_kafka():
    broker = BrokerConfig.of({"log.retention.hours": "1"})

    config = only(describe_topic(broker, {}, ["retention.ms"]))

    assert config.value == "3600000"
    assert config.source is ConfigSource.DEFAULT
    assert config.synonyms == ()


def test_a_broker_shows_all_that_is_defined_and_all_that_is_set():
    broker = BrokerConfig.of({"my.plugin": "1", "unclean.leader.election.interval.ms": "5"})
    shown = {config.name: config for config in describe_broker(broker)}
    internal = {name for name, definition in BROKER_CONFIGS.items() if definition.internal}

    assert shown.keys() == (BROKER_CONFIGS.keys() - internal) | {
        "my.plugin",
        "unclean.leader.election.interval.ms",
    }
    assert list(shown) == sorted(shown)
    assert shown["num.partitions"].read_only
    assert not shown["log.retention.ms"].read_only
    assert shown["log.cleaner.io.max.bytes.per.second"].value == "1.7976931348623157E308"


def test_secrets_and_what_might_be_one_are_not_shown():
    broker = BrokerConfig.of({"ssl.keystore.password": "hunter2", "my.plugin": "hunter2"})
    shown = {config.name: config for config in describe_broker(broker)}

    assert shown["ssl.keystore.password"].sensitive
    assert shown["my.plugin"].sensitive
    assert shown["my.plugin"].type is ConfigType.UNKNOWN
    assert shown["my.plugin"].documentation is None
    assert "hunter2" not in repr(shown)


def test_a_config_of_one_listener_shows_the_config_of_all_as_synonym():
    name = "listener.name.a.max.connections"
    config = only(describe_broker(BrokerConfig.of({name: "5"}), [name]))

    assert config.value == "5"
    assert config.type is ConfigType.INT
    assert config.read_only
    assert config.synonyms == (
        DescribedSynonym(name, "5", ConfigSource.STATIC_BROKER),
        DescribedSynonym("max.connections", "2147483647", ConfigSource.DEFAULT),
    )


def test_the_default_of_all_brokers_shows_only_what_was_set_for_all():
    broker = BrokerConfig.of(
        {SEGMENT_BYTES: "2000000"},
        default_overrides={SEGMENT_BYTES: "3000000"},
        overrides={SEGMENT_BYTES: "4000000", "num.io.threads": "4"},
    )

    config = only(describe_broker_defaults(broker))

    assert (config.name, config.value) == (SEGMENT_BYTES, "3000000")
    assert config.source is ConfigSource.DYNAMIC_DEFAULT_BROKER
    assert config.synonyms == (
        DescribedSynonym(SEGMENT_BYTES, "3000000", ConfigSource.DYNAMIC_DEFAULT_BROKER),
    )
    assert describe_broker_defaults(broker, ["num.io.threads"]) == []


def test_a_group_shows_its_own_values_and_its_brokers():
    broker = BrokerConfig.of({"group.consumer.heartbeat.interval.ms": "6000"})
    shown = {
        config.name: config
        for config in describe_group(broker, {"consumer.session.timeout.ms": "50000"})
    }

    assert len(shown) == 17
    assert shown["consumer.session.timeout.ms"].source is ConfigSource.GROUP
    assert shown["consumer.heartbeat.interval.ms"].source is ConfigSource.STATIC_BROKER
    assert shown["share.auto.offset.reset"].synonyms == (
        DescribedSynonym("share.auto.offset.reset", "latest", ConfigSource.DEFAULT),
    )


def test_a_client_metrics_subscription_shows_its_three_configs():
    shown = {config.name: config for config in describe_client_metrics({"metrics": "a,b"})}

    assert (shown["metrics"].value, shown["metrics"].source) == ("a,b", ConfigSource.CLIENT_METRICS)
    assert (shown["interval.ms"].value, shown["interval.ms"].source) == (
        "300000",
        ConfigSource.DEFAULT,
    )
    assert (shown["match"].value, shown["match"].synonyms) == ("", ())


def test_no_names_mean_all_names():
    broker = BrokerConfig.of({})

    assert describe_topic(broker, {}, []) == describe_topic(broker, {}, None)
    assert [c.name for c in describe_topic(broker, {}, ["retention.ms", "nope"])] == [
        "retention.ms"
    ]
