#!/usr/bin/env bash
# Packs the program for people who have no compiler: maskwright-VERSION-TARGET.tar.gz with the program, its manual pages, completions of shells,
# README, changelog, documents and licences, and beside it the archive's SHA-256.
#
# usage: scripts/package.sh [--binary FILE] [--out DIR]
# Without --binary, release/maskwright in cargo's target directory is built first; without --out, the archive goes to package/ there.
set -euo pipefail
binary=
out=
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=$(realpath "$2"); shift 2 ;;
        --out) mkdir -p "$2"; out=$(cd "$2" && pwd); shift 2 ;;
        *) echo "unknown option $1: see the head of $0" >&2; exit 2 ;;
    esac
done
cd "$(dirname "$0")/.."

built=${CARGO_TARGET_DIR:-target}
out=${out:-$built/package}
if [ -z "$binary" ]; then
    cargo build --release --locked -p maskwright-harness
    binary=$built/release/maskwright
fi

version=$("$binary" --version | cut -d ' ' -f 2)
target=$(rustc -vV | sed -n 's/^host: //p')
name=maskwright-$version-$target
mkdir -p "$out"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/$name/man" "$place/$name/completions" "$place/$name/docs"
cp "$binary" "$place/$name/maskwright"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$place/$name"
cp docs/*.md docs/*.svg docs/*.png "$place/$name/docs"
for shell in bash elvish fish powershell zsh; do
    "$binary" completions "$shell" > "$place/$name/completions/maskwright.$shell"
done
# write_manual [WORD...]: writes the manual page of a command, and those of the commands that this page names.
write_manual() {
    local page word
    page=$(IFS=- && echo "$place/$name/man/maskwright${1+-}$*.1")
    "$binary" man "$@" > "$page"
    for word in $(sed -n 's/^maskwright.*-\([a-z]*\)(1)$/\1/p' "$page"); do
        [ "$word" = help ] || write_manual "$@" "$word"
    done
}
write_manual
tar -czf "$out/$name.tar.gz" -C "$place" "$name"
(cd "$out" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
echo "$out/$name.tar.gz"
