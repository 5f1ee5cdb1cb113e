#!/usr/bin/env bash
# Builds, lints and tests the workers that have a lock file of their own: those of glrmask, XGrammar and llama.cpp. CI checks their
# format and lints glrmask's: on two cores its build takes five minutes, and the others, which need more than Rust, five to ten each.
#
#   apt-get install cmake clang libclang-dev
#   scripts/check-workers.sh [glrmask] [xgrammar] [llamacpp]
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- glrmask xgrammar llamacpp
for framework in "$@"; do
    [ "$framework" != glrmask ] || continue
    for tool in cmake clang++ c++; do
        if ! command -v "$tool" >/dev/null; then
            echo "$tool is missing: apt-get install cmake clang libclang-dev" >&2
            exit 1
        fi
    done
done
for framework in "$@"; do
    worker=harness/worker-$framework/Cargo.toml
    # C++ is compiled once, for one profile. CI lints glrmask's worker in the development profile, so that its build is shared.
    profile=release
    [ "$framework" != glrmask ] || profile=dev
    cargo fmt --manifest-path "$worker" --check
    cargo build --profile "$profile" --manifest-path "$worker" --locked
    cargo clippy --profile "$profile" --manifest-path "$worker" --all-targets --locked -- -D warnings
    cargo test --profile "$profile" --manifest-path "$worker" --locked
done
