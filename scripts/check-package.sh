#!/usr/bin/env bash
# Packages the crate maskwright as for crates.io and builds a program outside of the workspace against the package. The program is the
# snippet of the README; its tests show that the crate changes nothing about its dependents' serde_json.
#
# Takes about three quarters of a minute of processor time. Needs no network once the workspace's dependencies are there.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$PWD/target/check-package
packages=${CARGO_TARGET_DIR:-target}/package
mkdir -p "$place/outside/src"
# Those of other versions too.
rm -f "$packages"/maskwright-*.crate
# The program's build is the verification, so that cargo need not build the package a second time.
cargo package -p maskwright --locked --allow-dirty --no-verify --quiet
rm -rf "$place/maskwright"
mkdir "$place/maskwright"
tar -xzf "$packages"/maskwright-*.crate --strip-components 1 -C "$place/maskwright"

snippet() { sed -n '/^<!-- snippet -->$/,/^<!-- end of snippet -->$/p' "$1" | sed '/^<!--/d; /^```/d'; }
cp -r scripts/check-package/. "$place/outside"
# The versions that the workspace has been tested with.
cp Cargo.lock "$place/outside"
snippet README.md > "$place/outside/src/main.rs"
diff <(snippet README.md) <(snippet engine/README.md) || { echo "README.md and engine/README.md have different snippets"; exit 1; }

export CARGO_TARGET_DIR=$place/target
cd "$place/outside"
printed=$(cargo run --quiet)
expected='{"name":"Grace","born":2000}'
[ "$printed" = "$expected" ] || { echo "the snippet prints $printed, not $expected"; exit 1; }
cargo test --quiet
echo "the package builds alone, the README's snippet prints $printed"
