#!/usr/bin/env bash
# Opens the pages that `maskwright report` and `maskwright site` write in headless Chromium, at 400 and 1,400 pixels: no error in the
# console, filters filter, tables sort, charts have the numbers of the records, hostile texts stay text, and a page of 10,000 schemas
# times 6 frameworks opens in a second.
#
#   apt-get install chromium nodejs npm
#   scripts/check-pages.sh                     # the program in target/release, built where there is none
#   MASKWRIGHT=PROGRAM scripts/check-pages.sh  # or takes this one
#   SCREENSHOTS=DIR scripts/check-pages.sh     # keeps what the pages look like, light and dark
set -euo pipefail
[ -z "${MASKWRIGHT-}" ] || MASKWRIGHT=$(realpath "$MASKWRIGHT")
[ -z "${SCREENSHOTS-}" ] || SCREENSHOTS=$(realpath -m "$SCREENSHOTS")
[[ ${CHROMIUM-} != [!/]*/* ]] || CHROMIUM=$PWD/$CHROMIUM
cd "$(dirname "$0")/.."
for needed in node npm; do
  command -v "$needed" >/dev/null || { echo "$0 needs $needed: apt-get install nodejs npm" >&2; exit 2; }
done
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$CHROMIUM" ] || { echo "$0 needs Chromium: apt-get install chromium, or set CHROMIUM to its program" >&2; exit 2; }
if [ -z "${MASKWRIGHT-}" ]; then
  MASKWRIGHT=${CARGO_TARGET_DIR:-target}/release/maskwright
  [ -x "$MASKWRIGHT" ] || cargo build --release --locked
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp scripts/check-pages/package*.json scripts/check-pages/*.mjs "$work"
if ! (cd "$work" && npm ci --silent --no-audit --no-fund); then
  echo "$0: skipped, as npm cannot install what the check needs; is there a network?" >&2
  exit 0
fi
MASKWRIGHT=$(realpath "$MASKWRIGHT") CHROMIUM=$CHROMIUM RUNS=$PWD/docs/example/runs DATA=$PWD/docs/example SCREENSHOTS=${SCREENSHOTS-} \
  node "$work/check.mjs" "$work"
