#!/usr/bin/env bash
# Packs the program for people who have no compiler: maskwright-VERSION-TARGET.tar.gz with the program, its manual pages, completions of shells,
# README and licences, and beside it the archive's SHA-256.
#
# usage: scripts/package.sh [--binary FILE] [--out DIR]
# Without --binary, target/release/maskwright is built first; without --out, the archive goes to target/package.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=
out=target/package
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=$2; shift 2 ;;
        --out) out=$2; shift 2 ;;
        *) echo "unknown option $1: see the head of $0" >&2; exit 2 ;;
    esac
done
if [ -z "$binary" ]; then
    cargo build --release --locked -p maskwright-harness
    binary=target/release/maskwright
fi

version=$("$binary" --version | cut -d ' ' -f 2)
target=$(rustc -vV | sed -n 's/^host: //p')
name=maskwright-$version-$target
mkdir -p "$out"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/$name/man" "$place/$name/completions"
cp "$binary" "$place/$name/maskwright"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT docs/guide.md "$place/$name"
for shell in bash elvish fish powershell zsh; do
    "$binary" completions "$shell" > "$place/$name/completions/maskwright.$shell"
done
"$binary" man > "$place/$name/man/maskwright.1"
for command in bench census check completions fetch list man masks sample testsuite ifstruct \
    "ifstruct generate" "ifstruct leaderboard" "ifstruct reward" "ifstruct run" "ifstruct score"; do
    # The words of a command are arguments of their own.
    # shellcheck disable=SC2086
    "$binary" man $command > "$place/$name/man/maskwright-${command// /-}.1"
done
tar -czf "$out/$name.tar.gz" -C "$place" "$name"
(cd "$out" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
echo "$out/$name.tar.gz"
