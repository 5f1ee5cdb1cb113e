#!/usr/bin/env bash
# Counts the instructions of masks and compilations with Valgrind's callgrind, and compares them with
# benches/instructions.txt: free of the noise that times have.
#
#   benches/instructions.sh            prints the counts; fails where one differs by more than TOLERANCE percent
#   benches/instructions.sh --record   writes them down: after an improvement, or a change that is worth its cost
set -euo pipefail
cd "$(dirname "$0")/.."
tolerance=${TOLERANCE:-3}
recorded=benches/instructions.txt
case "${1-}" in
  "" | --record) ;;
  *) echo "usage: $0 [--record]" >&2; exit 2 ;;
esac
command -v valgrind >/dev/null || { echo "$0 needs valgrind" >&2; exit 2; }

cargo build --quiet --release --locked -p maskwright-benches --bin instructions
target=$(cargo metadata --format-version 1 --no-deps --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# A file of counts is written after each call of the function, and zeroed: out.1, out.2, ….
valgrind --tool=callgrind --collect-atstart=no \
  --toggle-collect=instructions::instructions_counted --dump-after=instructions::instructions_counted \
  --callgrind-out-file="$out/out" "$target/release/instructions" >"$out/names" 2>"$out/log" ||
  { cat "$out/log" >&2; exit 2; }

number=0
while IFS= read -r name; do
  number=$((number + 1))
  count=$(awk '$1 == "totals:" && $2 > 0 {print $2; counted = 1} END {exit !counted}' "$out/out.$number") ||
    { echo "callgrind has not counted $name" >&2; exit 2; }
  printf '%s\t%s\n' "$count" "$name"
done <"$out/names" >"$out/counts"

if [ "${1-}" = --record ]; then
  {
    echo "# Instructions, as benches/instructions.sh --record counted them: $(rustc --version), $(uname -m)."
    cat "$out/counts"
  } >"$recorded"
  echo "recorded in $recorded"
fi
awk -F'\t' -v tolerance="$tolerance" '
  /^#/ { next }
  FNR == NR { before[$2] = $1; next }
  {
    seen[$2] = 1
    change = "new"
    if ($2 in before && before[$2] > 0) {
      percent = 100 * ($1 - before[$2]) / before[$2]
      change = sprintf("%+.1f %%", percent)
      if (percent > tolerance) { change = change "  SLOWER"; failed = 1 }
      if (percent < -tolerance) { change = change "  faster: record it"; failed = 1 }
    } else failed = 1
    printf "%-56s %13d  %s\n", $2, $1, change
  }
  END {
    for (name in before) if (!(name in seen)) { print name ": no longer measured"; failed = 1 }
    if (failed) print "differs from " FILENAME_RECORDED " by more than " tolerance " %; --record writes the new counts"
    exit failed
  }' FILENAME_RECORDED="$recorded" <(cat "$recorded" 2>/dev/null; echo '# end') "$out/counts"
