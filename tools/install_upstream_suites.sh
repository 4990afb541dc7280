#!/bin/sh
# Puts the integration tests of clients' authors into the folder given as the first argument: those
# of compat_tests/upstream/requirements.txt, from their source distributions. The second argument
# is the Python whose pip loads them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)
python=$2

"$python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --no-binary kafka-python --require-hashes \
    --dest "$target/downloads" --requirement "$here/../compat_tests/upstream/requirements.txt"

rm -rf "$target/kafka_python"
mkdir "$target/kafka_python"
tar -xzf "$target"/downloads/kafka_python-*.tar.gz -C "$target/kafka_python" --strip-components=1
