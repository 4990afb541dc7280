#!/bin/sh
# Compiles the program of compat_tests/java_client against each version of Kafka's Java clients that
# lies in .cache/jars, into VERSION/ below the folder given as the first argument.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)
jars=$here/.cache/jars

if ! command -v javac >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq default-jdk-headless >/dev/null
    else
        echo "the tests of Java clients need a JDK: install default-jdk-headless" >&2
        exit 2
    fi
fi

json=$(echo "$jars"/kafka-4.3.1/jackson-*.jar | tr ' ' ':')
for clients in "$jars"/clients-* "$jars"/kafka-4.3.1; do
    version=${clients##*-}
    rm -rf "${target:?}/$version"
    mkdir -p "$target/$version"
    javac -nowarn -Xlint:none -d "$target/$version" \
        -cp "$(echo "$clients"/kafka-clients-*.jar):$json" "$here"/compat_tests/java_client/*.java
done
