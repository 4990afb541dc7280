#!/bin/sh
# Builds the client program of compat_tests/rust_client into bin/ of the folder given as the first
# argument, with all that is compiled on the way, librdkafka too. Sources of crates stay where the
# user's Cargo keeps them: a Cargo with another home would not find the user's settings.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)
oldest=85  # Rust 1.85, which the crates of Cargo.lock want

missing=
for word in cargo rustc gcc g++ make; do
    command -v "$word" >/dev/null 2>&1 || missing="$missing $word"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq
        # Debian 12 has a newer Rust beside its own, for browsers.
        if apt-cache show rustc-web >/dev/null 2>&1; then
            missing=$(echo "$missing" | sed 's/cargo/cargo-web/; s/rustc/rustc-web/')
        fi
        # shellcheck disable=SC2086  # a list of packages
        apt-get install -y -qq $missing >/dev/null
    else
        echo "the Rust client needs Rust (1.$oldest or newer) and a C compiler: install$missing" >&2
        exit 2
    fi
fi
minor=$(rustc --version | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
if [ "${minor:-0}" -lt "$oldest" ]; then
    echo "the Rust client needs Rust 1.$oldest or newer, not $(rustc --version)" >&2
    exit 2
fi

cd "$here/../compat_tests/rust_client"
CARGO_TARGET_DIR="$target/target" cargo build --quiet --locked --release
mkdir -p "$target/bin"
cp "$target/target/release/rust_client" "$target/bin/"
