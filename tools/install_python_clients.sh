#!/bin/sh
# Puts older versions of Python clients into folders of their own below the one given as the first
# argument, NAME-VERSION each. Tests search such a folder before .venv, which has the newest ones.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"

for requirements in "$here"/compat_tests/*/older-requirements.txt; do
    # The first line is the client itself: name==version.
    name=$(sed -n '1s/==/-/p' "$requirements")
    rm -rf "$1/$name"
    "$here/.venv/bin/uv" pip install --quiet --no-deps --python "$here/.venv/bin/python" \
        --target "$1/$name" -r "$requirements"
    touch "$1/$name/installed"
done
