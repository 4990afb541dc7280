#!/bin/sh
# Builds our Go programs into bin/ of the folder given as the first argument: the client programs
# of compat_tests/go_clients, the generator of load and the server of kfake of benchmarks/go.
# Modules and Go's own cache stay in that folder too. An older Go than the clients want is
# enough: it loads the right one, which Go's module proxy serves like a module.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)
toolchain=v0.0.1-go1.26.0.linux-$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')

if ! command -v go >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq golang-go >/dev/null
    else
        echo "Go clients and benchmarks need Go: install golang-go" >&2
        exit 2
    fi
fi

# -modcacherw lets `make clean` remove what was loaded.
export GOPATH="$target/path" GOCACHE="$target/cache" GOTOOLCHAIN=local GOFLAGS="-modcacherw"
unset GOROOT GOMODCACHE 2>/dev/null || true
go=go
minor=$(go env GOVERSION | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
if [ "${minor:-0}" -lt 26 ]; then
    (cd "$target" && GOFLAGS="-modcacherw -mod=mod" \
        go mod download "golang.org/toolchain@$toolchain")
    GOROOT=$target/path/pkg/mod/golang.org/toolchain@$toolchain
    export GOROOT
    chmod -R +x "$GOROOT/bin" "$GOROOT/pkg/tool"
    go=$GOROOT/bin/go
fi

mkdir -p "$target/bin"
cd "$here/../benchmarks/go"
"$go" build -buildvcs=false -o "$target/bin/" ./raw_load ./kfake_server
cd "$here/../compat_tests/go_clients"
"$go" build -buildvcs=false -o "$target/bin/" ./franz_go ./franz_transactor ./sarama ./kafka_go
# franz-go's own tests, for compat_tests/upstream: a module holds its tests too.
"$go" test -c -o "$target/bin/kgo.test" github.com/twmb/franz-go/pkg/kgo
