"""Typed, validated settings under Kafka's own names; pure.

Handlers of the config APIs import `describe`, `alter` and `resources` themselves; everybody else
needs only the names below.

values                  texts to typed values and back, as Java reads and prints them
validators              ranges, choices and shapes of values
errors                  ConfigError and ConfigRequestError, the two ways to be refused
definition              ConfigDef, one row of the tables below
topic_configs           the table of topic configs
group_configs           the table of group configs
client_metrics_configs  the table of client metrics subscriptions
broker_configs          all broker configs, out of the broker_* tables by subject
properties              parse_properties, the format of server.properties
listeners               Listener, an address the broker listens on or advertises
broker_checks           what the configs of a broker must be together
broker_config           BrokerConfig, the view of one broker
topic_config            TopicConfig, the view of one topic
group_config            GroupConfig, the view of one group
describe                DescribedConfig, what DescribeConfigs shows of each kind of resource
resources               ResourceType, what has configs, and the names they may have in requests
alter                   Change, what AlterConfigs and IncrementalAlterConfigs ask for, checked
"""

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.errors import ConfigError, ConfigRequestError
from kbroker.config.group_config import GroupConfig
from kbroker.config.listeners import Listener
from kbroker.config.properties import parse_properties
from kbroker.config.topic_config import TopicConfig

__all__ = [
    "BrokerConfig",
    "TopicConfig",
    "GroupConfig",
    "Listener",
    "ConfigError",
    "ConfigRequestError",
    "parse_properties",
]
