#!/bin/sh
# Puts kafkajs, at the version of compat_tests/kafkajs/package-lock.json, into node_modules of the
# folder given as the first argument.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)

missing=
command -v node >/dev/null 2>&1 || missing="nodejs"
command -v npm >/dev/null 2>&1 || missing="$missing npm"
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        # shellcheck disable=SC2086  # a list of packages
        apt-get update -qq && apt-get install -y -qq $missing >/dev/null
    else
        echo "the tests of kafkajs need Node.js (18 or newer): install $missing" >&2
        exit 2
    fi
fi

cp "$here/../compat_tests/kafkajs/package.json" "$here/../compat_tests/kafkajs/package-lock.json" \
    "$target"
npm ci --prefix "$target" --silent --no-fund --no-audit
