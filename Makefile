# Two commands for everyone: `make start` and `make test`. The rest is for developers.
# All of it installs what it needs: Python packages into .venv at the versions of uv.lock,
# Java, Maven, Go, Rust and Node.js from the system's packages where they are missing, what they
# load into .cache.

VENV := .venv
BIN := $(VENV)/bin
export UV_PROJECT_ENVIRONMENT := $(CURDIR)/$(VENV)

.PHONY: help start test check unit bench compat setup java java-clients python-clients go node
.PHONY: rust console kcat openssl upstream compose generate format clean connector

help:
	@echo "make start   install and run a broker on 127.0.0.1:9092"
	@echo "make test    install all that is needed and run every test"
	@echo "make check   the fast half: format, lint, types, layers, unit tests"
	@echo "make compat  every client and tool, on kbroker and on Apache Kafka, side by side"
	@echo "make bench   measurements, side by side with other implementations (BENCH=--quick)"
	@echo "make format  let ruff rewrite the sources"
	@echo "make generate  write wire/messages and docs/protocol.md anew"
	@echo "make clean   remove all that was installed or built here"

setup: $(VENV)/.dev

$(BIN)/uv:
	sh tools/bootstrap.sh $(VENV)

$(VENV)/.run: pyproject.toml uv.lock $(BIN)/uv
	$(BIN)/uv sync --quiet --locked --inexact
	@touch $@

$(VENV)/.dev: pyproject.toml uv.lock $(BIN)/uv
	$(BIN)/uv sync --quiet --locked --extra dev
	@touch $@ $(VENV)/.run

# PySpark is 400 MB and only compat_tests and spark_jobs want it.
$(VENV)/.spark: $(VENV)/.dev
	$(BIN)/uv sync --quiet --locked --extra dev --extra spark
	@touch $@

# Spark's Kafka connector, which Spark itself loads.
connector: .cache/ivy/.ready

.cache/ivy/.ready: $(VENV)/.spark .cache/jars/.ready tools/install_spark_connector.sh
	sh tools/install_spark_connector.sh $(BIN)/python
	@touch $@

java: .cache/jars/.ready

.cache/jars/.ready: $(wildcard tools/kafka_jars/*)
	sh tools/kafka_jars/install.sh .cache/jars
	@touch $@

# Client programs of compat_tests: one Java source against each version of the clients, older
# versions of Python clients.
java-clients: .cache/java_clients/.ready

.cache/java_clients/.ready: .cache/jars/.ready tools/install_java_clients.sh $(wildcard compat_tests/java_client/*.java)
	sh tools/install_java_clients.sh .cache/java_clients
	@touch $@

python-clients: .cache/python_clients/.ready

.cache/python_clients/.ready: $(VENV)/.dev tools/install_python_clients.sh $(wildcard compat_tests/*/older-requirements.txt)
	sh tools/install_python_clients.sh .cache/python_clients
	@touch $@

# Our Go programs, built: members of groups, and what the benchmarks use. The program in Rust.
# kafkajs for Node.js.
go: .cache/go/.ready

.cache/go/.ready: tools/install_go_clients.sh $(shell find compat_tests/go_clients benchmarks/go -name '*.go' -o -name 'go.*')
	sh tools/install_go_clients.sh .cache/go
	@touch $@

rust: .cache/rust/.ready

.cache/rust/.ready: tools/install_rust_client.sh $(wildcard compat_tests/rust_client/Cargo.* compat_tests/rust_client/src/*.rs)
	sh tools/install_rust_client.sh .cache/rust
	@touch $@

node: .cache/kafkajs/.ready

.cache/kafkajs/.ready: tools/install_kafkajs.sh compat_tests/kafkajs/package-lock.json
	sh tools/install_kafkajs.sh .cache/kafkajs
	@touch $@

# kafka-console, a command-line tool for Node.js.
console: .cache/kafka_console/.ready

.cache/kafka_console/.ready: tools/install_kafka_console.sh compat_tests/kafka_console/package-lock.json
	sh tools/install_kafka_console.sh .cache/kafka_console
	@touch $@

# The integration tests that clients' authors wrote.
upstream: .cache/upstream/.ready

.cache/upstream/.ready: tools/install_upstream_suites.sh compat_tests/upstream/requirements.txt $(VENV)/.dev
	sh tools/install_upstream_suites.sh .cache/upstream $(BIN)/python
	@touch $@

# For the check of docker-compose.yml.
compose:
	sh tools/install_docker_compose.sh

kcat:
	sh tools/install_kcat.sh

# Makes the certificates of tests and measurements.
openssl:
	sh tools/install_openssl.sh

start: $(VENV)/.run
	$(BIN)/kbroker start

check: setup openssl
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest -q -n 2 -m "not slow and not java" tests

CLIENTS := java java-clients python-clients go rust node console kcat upstream

test: check $(CLIENTS) compose connector
	$(BIN)/pytest -q -n 2 --dist loadfile --timeout=300 -m "slow or java" tests
	$(BIN)/pytest -q -n 2 --dist loadgroup compat_tests
	$(BIN)/pytest -q spark_jobs

compat: setup openssl $(CLIENTS)
	$(BIN)/python -m compat_tests.matrix --anew
	UPSTREAM=all $(BIN)/pytest -q compat_tests/upstream

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: setup java
	$(BIN)/python -m tools.generate_messages
	$(BIN)/python -m tools.generate_protocol_page

bench: setup java go connector openssl
	$(BIN)/python -m benchmarks.codec
	$(BIN)/python -m benchmarks.suite $(BENCH)
	$(BIN)/python -m benchmarks.spark

clean:
	rm -rf $(VENV) .cache build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis kbroker-data
