import dataclasses

import pytest

from kbroker.config import BrokerConfig, ConfigError, GroupConfig, TopicConfig
from kbroker.config.group_config import group_values
from kbroker.config.topic_config import check_topic, topic_values
from kbroker.config.topic_configs import TOPIC_CONFIGS

DEFAULTS = BrokerConfig.of({})


def test_a_topic_that_sets_nothing_has_kafkas_defaults():
    config = TopicConfig.of(DEFAULTS, {})

    assert (config.delete, config.compact) == (True, False)
    assert config.retention_ms == 604_800_000
    assert config.segment_ms == 604_800_000
    assert config.flush_ms == 2**63 - 1
    for field in dataclasses.fields(config):
        name = field.name.replace("_", ".")
        if name in TOPIC_CONFIGS:
            assert getattr(config, field.name) == TOPIC_CONFIGS[name].default, name


@pytest.mark.parametrize("view", [TopicConfig.of(DEFAULTS, {}), GroupConfig.of(DEFAULTS, {})])
def test_every_field_has_the_type_it_says(view):
    for field in dataclasses.fields(view):
        value = getattr(view, field.name)
        expected = tuple if field.type == tuple[str, ...] else field.type
        assert type(value) is expected, field.name


def test_what_a_topic_sets_counts():
    config = TopicConfig.of(
        DEFAULTS,
        {
            "cleanup.policy": "compact, delete",
            "retention.ms": "-1",
            "message.timestamp.type": "LogAppendTime",
            "compression.type": "zstd",
            "min.cleanable.dirty.ratio": "0.1",
            "leader.replication.throttled.replicas": "0:1,1:2",
        },
    )

    assert config.compact
    assert config.delete
    assert config.retention_ms == -1
    assert config.log_append_time
    assert config.compression_type == "zstd"
    assert config.min_cleanable_dirty_ratio == 0.1
    assert config.leader_replication_throttled_replicas == ("0:1", "1:2")


def test_a_topic_may_have_no_cleanup_policy():
    config = TopicConfig.of(DEFAULTS, {"cleanup.policy": ""})

    assert (config.delete, config.compact) == (False, False)


@pytest.mark.parametrize(
    ("properties", "retention_ms"),
    [
        ({"log.retention.hours": "1"}, 3_600_000),
        ({"log.retention.hours": "1", "log.retention.minutes": "2"}, 120_000),
        ({"log.retention.minutes": "2", "log.retention.ms": "3"}, 3),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.ms": "-7"}, -1),
    ],
)
def test_the_finest_unit_of_the_broker_counts(properties, retention_ms):
    assert TopicConfig.of(BrokerConfig.of(properties), {}).retention_ms == retention_ms


def test_every_synonym_gives_a_topic_its_default():
    broker = BrokerConfig.of(
        {
            "log.roll.hours": "2",
            "log.roll.jitter.hours": "1",
            "log.flush.scheduler.interval.ms": "50",
            "log.segment.bytes": "1048576",
            "message.max.bytes": "99",
            "log.cleanup.policy": "compact",
            "log.segment.delete.delay.ms": "5",
        }
    )
    config = TopicConfig.of(broker, {"max.message.bytes": "100"})

    assert config.segment_ms == 7_200_000
    assert config.segment_jitter_ms == 3_600_000
    assert config.flush_ms == 50
    assert config.segment_bytes == 1_048_576
    assert config.max_message_bytes == 100
    assert (config.delete, config.compact) == (False, True)
    assert config.file_delete_delay_ms == 5


def test_a_test_may_ask_for_tiny_segments():
    assert TopicConfig.of(DEFAULTS, {"internal.segment.bytes": "100"}).segment_bytes == 100


def test_a_name_that_is_no_config_is_passed_over_by_the_view_and_refused_by_the_check():
    assert "nope" not in topic_values(DEFAULTS, {"nope": "1"})
    with pytest.raises(ConfigError) as caught:
        check_topic(DEFAULTS, {"nope": "1"})

    assert str(caught.value) == "Unknown topic config name: nope"


def test_the_compaction_lags_must_fit_also_with_the_brokers():
    broker = BrokerConfig.of({"log.cleaner.max.compaction.lag.ms": "50"})

    check_topic(broker, {"min.compaction.lag.ms": "50"})
    with pytest.raises(ConfigError, match=r"min.compaction.lag.ms \(51\) > .* \(50\)"):
        check_topic(broker, {"min.compaction.lag.ms": "51"})


def test_tiered_storage_cannot_be_switched_on():
    with pytest.raises(ConfigError, match="Tiered Storage functionality is disabled"):
        check_topic(DEFAULTS, {"remote.storage.enable": "true"})


def test_a_group_takes_its_values_from_itself_and_then_from_its_broker():
    broker = BrokerConfig.of({"group.consumer.heartbeat.interval.ms": "6000"})
    config = GroupConfig.of(broker, {"consumer.session.timeout.ms": "50000"})

    assert config.consumer_heartbeat_interval_ms == 6000
    assert config.consumer_session_timeout_ms == 50_000
    assert config.share_auto_offset_reset == "latest"
    assert config.streams_num_standby_replicas == 0


def test_a_limit_that_was_drawn_tighter_caps_what_a_group_set_before():
    broker = BrokerConfig.of({"group.consumer.max.session.timeout.ms": "46000"})
    overrides = {"consumer.session.timeout.ms": "50000"}

    assert GroupConfig.of(broker, overrides).consumer_session_timeout_ms == 46_000
    assert group_values(broker, overrides)["consumer.session.timeout.ms"] == 50_000
