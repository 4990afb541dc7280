"""Every client program of every folder, in the order of the table in docs/compatibility.md."""

from compat_tests.aiokafka.programs import PROGRAMS as AIOKAFKA
from compat_tests.confluent_kafka.programs import PROGRAMS as CONFLUENT_KAFKA
from compat_tests.go_clients.programs import PROGRAMS as GO
from compat_tests.java_client.programs import PROGRAMS as JAVA
from compat_tests.kafka_python.programs import PROGRAMS as KAFKA_PYTHON
from compat_tests.kafkajs.programs import PROGRAMS as KAFKAJS
from compat_tests.kcat.programs import PROGRAMS as KCAT
from compat_tests.rust_client.programs import PROGRAMS as RUST

PROGRAMS = (*JAVA, *CONFLUENT_KAFKA, *KAFKA_PYTHON, *AIOKAFKA, *GO, *RUST, *KAFKAJS, *KCAT)
BY_LABEL = {program.label: program for program in PROGRAMS}
