#!/usr/bin/env bash
# Compares this project's models, written as GGUF files, with the same models in llama.cpp: greedy tokens and logits. See
# README.md.
#
#   scripts/compare-llamacpp/run.sh [compare.py's arguments]
#
# Builds llama.cpp on the first run: cmake, a C++ compiler and libclang are needed, and five to ten minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
worker=$root/harness/worker-llamacpp

cargo build --quiet --release --manifest-path "$root/Cargo.toml" --package maskwright-models --bins
cargo build --quiet --release --manifest-path "$worker/Cargo.toml" --example greedy-tokens
exec python3 "$here/compare.py" \
    --ours "${CARGO_TARGET_DIR:-$root/target}/release/maskwright-models" \
    --llamacpp "${CARGO_TARGET_DIR:-$worker/target}/release/examples/greedy-tokens" "$@"
