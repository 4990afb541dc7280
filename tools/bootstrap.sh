#!/bin/sh
# Creates the virtual environment given as the first argument, with uv inside it.
# Debian splits venv from python3; where it is missing and we may, we install it.
set -eu
venv=$1
uv_version=$(sed -n 's/^ *"uv==\([0-9.]*\)".*/\1/p' pyproject.toml)

python=
for candidate in python3 python3.11 python3.12 python3.13; do
    if command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "kbroker needs Python 3.11 or newer (python3 on the PATH)" >&2
    exit 2
fi

if ! "$python" -c 'import ensurepip' >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
    else
        echo "Python's venv module is missing: install python3-venv" >&2
        exit 2
    fi
fi

"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$uv_version"
