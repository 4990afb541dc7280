"""One of Kafka's tools at a time, in a JVM of its own, as ``bin/kafka-topics.sh`` starts it."""

from tools.apache_kafka import run_java

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
GET_OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
API_VERSIONS = "org.apache.kafka.tools.BrokerApiVersionsCommand"
FEATURES = "org.apache.kafka.tools.FeatureCommand"
CLUSTER = "org.apache.kafka.tools.ClusterTool"
PRODUCER_PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
VERIFIABLE_PRODUCER = "org.apache.kafka.tools.VerifiableProducer"
VERIFIABLE_CONSUMER = "org.apache.kafka.tools.VerifiableConsumer"
CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
GROUPS = "org.apache.kafka.tools.GroupsCommand"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
DUMP_LOG = "org.apache.kafka.tools.DumpLogSegments"


class Tools:
    """Kafka's tools against one cluster."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def run(self, tool: str, *arguments: str, stdin: str = "") -> str:
        """What the tool prints; RuntimeError with its words if it fails."""
        return run_java(
            tool, "--bootstrap-server", self.bootstrap, *arguments, stdin=stdin.encode()
        ).decode()

    def words(self, tool: str, *arguments: str, stdin: str = "") -> str:
        """What the tool prints, whether it succeeds or fails; without Java's stack traces."""
        try:
            output = self.run(tool, *arguments, stdin=stdin)
        except RuntimeError as error:
            output = str(error)
        lines = output.replace(self.bootstrap, "BOOTSTRAP").splitlines()
        return "\n".join(line for line in lines if not line.startswith(("\tat ", "SLF4J")))
