#!/bin/sh
# Fills the folder given as the first argument: kafka-4.3.1/ holds the broker, its tools, Streams,
# Connect and their dependencies, clients-*/ the Java clients of one version each, and
# definitions-4.4.0/ the clients jar with the newest message definitions.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)

missing=
command -v java >/dev/null 2>&1 || missing="default-jdk-headless"
command -v mvn >/dev/null 2>&1 || missing="$missing maven"
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        # shellcheck disable=SC2086  # a list of packages
        apt-get update -qq && apt-get install -y -qq $missing >/dev/null
    else
        echo "the tests need a JDK (17 or newer) and Maven: install$missing" >&2
        exit 2
    fi
fi

mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$target/kafka-4.3.1"
# 2.8 is the oldest whose requests a broker of 4.x still understands; 3.9 is the last that speaks
# transaction version 1.
for version in 4.4.0 3.9.2 2.8.2; do
    mvn -q -B -f "$here/clients.xml" dependency:copy-dependencies \
        -Dclients.version="$version" -DoutputDirectory="$target/clients-$version"
done
mvn -q -B dependency:copy -Dartifact=org.apache.kafka:kafka-clients:4.4.0 \
    -DoutputDirectory="$target/definitions-4.4.0"
