#!/bin/sh
# Puts kafka-console, at the version of compat_tests/kafka_console/package-lock.json, into
# node_modules of the folder given as the first argument, with a Node.js of its own, which npm
# serves like a package, where the system's is older than the tool wants.
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
        echo "the tests of kafka-console need Node.js: install $missing" >&2
        exit 2
    fi
fi

cp "$here/../compat_tests/kafka_console/package.json" \
    "$here/../compat_tests/kafka_console/package-lock.json" "$target"
npm ci --prefix "$target" --silent --no-fund --no-audit
old='const [major, minor] = process.versions.node.split(".").map(Number);
process.exit(major < 20 || (major === 20 && minor < 20) ? 0 : 1)'
if node -e "$old"; then
    npm install --prefix "$target" --no-save --silent --no-fund --no-audit node@22.20.0
fi
