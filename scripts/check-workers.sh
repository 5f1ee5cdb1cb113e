#!/usr/bin/env bash
# Builds, lints and tests the workers that have a lock file of their own: those of glrmask, XGrammar and llama.cpp. CI lints glrmask's
# and does no more: on two cores it takes five minutes, and the others, which need more than Rust, five to ten each.
#
#   apt-get install cmake clang libclang-dev
#   scripts/check-workers.sh [glrmask] [xgrammar] [llamacpp]
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- glrmask xgrammar llamacpp
for framework in "$@"; do
    worker=harness/worker-$framework/Cargo.toml
    if [ "$framework" = glrmask ]; then
        # The profile in which CI lints it.
        profile=()
    else
        # One profile for all: the C++ is compiled once.
        profile=(--release)
        for tool in cmake clang++ c++; do
            if ! command -v "$tool" >/dev/null; then
                echo "$tool is missing: apt-get install cmake clang libclang-dev" >&2
                exit 1
            fi
        done
    fi
    cargo fmt --manifest-path "$worker" --check
    cargo build "${profile[@]}" --manifest-path "$worker" --locked
    cargo clippy "${profile[@]}" --manifest-path "$worker" --all-targets --locked -- -D warnings
    cargo test "${profile[@]}" --manifest-path "$worker" --locked
done
