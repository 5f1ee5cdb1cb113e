#!/usr/bin/env bash
# Counts the instructions of masks and compilations with Valgrind's callgrind, and compares them with
# benches/instructions.txt: free of the noise that times have.
#
#   benches/instructions.sh            prints the counts; fails where one differs by more than TOLERANCE percent
#   benches/instructions.sh --record   writes them down: after an improvement, or a change that is worth its cost
#
# Fails, too, where the instructions for a token of a family of schemas (benches/src/families.rs) grow faster than n log n, n being
# the bytes of the schema and the document; families that are known to are in benches/expected-growth.tsv with the reason, checked both ways.
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
awk -F'\t' '
  FNR == NR { if (!/^#/) expected[$1] = 1; next }
  # Names are "family NAME/SIZE/BYTES bytes/TOKENS tokens", the sizes of a family one after another.
  $2 ~ /^family / {
    split($2, part, "/")
    family = substr(part[1], 8); bytes = part[3] + 0; each = $1 / (part[4] + 0)
    # A document of a handful of tokens may meet at one size what it misses at another: hence a quarter more.
    if (family == last && each > 1.25 * of_last * bytes * log(bytes) / (last_bytes * log(last_bytes))) {
      grown[family] = 1
      if (!(family in expected)) {
        printf "%s: %.0f instructions a token at %d bytes, %.0f at %d: faster than n log n\n", family, of_last, last_bytes, each, bytes
        failed = 1
      }
    }
    last = family; last_bytes = bytes; of_last = each
  }
  END {
    for (family in expected) if (!(family in grown)) { print family ": no longer grows faster than n log n; take it out of benches/expected-growth.tsv"; failed = 1 }
    exit failed
  }' benches/expected-growth.tsv "$out/counts" || grown=1
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
exit "${grown:-0}"
