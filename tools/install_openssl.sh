#!/bin/sh
# Installs the openssl command from the system's packages, where it is missing.
set -eu
if ! command -v openssl >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq openssl >/dev/null
    else
        echo "the tests of TLS make their certificates with openssl: install openssl" >&2
        exit 2
    fi
fi
