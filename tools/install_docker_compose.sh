#!/bin/sh
# docker-compose from the system's packages, where it is missing: it checks docker-compose.yml, and
# needs no engine for that.
set -eu
if ! command -v docker-compose >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends docker-compose >/dev/null
    else
        echo "the check of docker-compose.yml needs docker-compose: install it" >&2
        exit 2
    fi
fi
