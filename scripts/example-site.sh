#!/usr/bin/env bash
# Makes the pages in docs/example/site anew from the runs in docs/example/runs. `cargo test` checks that they are current.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --release --locked --bin maskwright -- site docs/example/runs --out docs/example/site --data docs/example --title "maskwright example" --force
