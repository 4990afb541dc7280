#!/bin/sh
# Installs kcat from the system's packages, where it is missing.
set -eu
if ! command -v kcat >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq kcat >/dev/null
    else
        echo "the tests of kcat need it: install kcat" >&2
        exit 2
    fi
fi
