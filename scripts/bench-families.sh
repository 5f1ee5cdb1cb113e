#!/usr/bin/env bash
# Runs `bench` on a small random checkpoint of every family of models, constrained by maskwright and by llguidance and
# unconstrained, and prints a row for each family (Markdown).
#
#   scripts/bench-families.sh [--record] [options of bench, in place of those below]
#
# With --record the table, without its times, goes to docs/results/families.json; `MASKWRIGHT_UPDATE_DOCS=1 cargo test -p
# maskwright-harness docs` puts it into docs/results.md.
#
# The models have random weights, so that only the constraint makes answers valid, and are so small that times say what
# surrounds the forward pass, not how fast models are. MASKWRIGHT and MASKWRIGHT_MODELS name programs that are there already;
# without them both are built. FAMILIES are the families, all by default. Some minutes, without a download.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
record=
[[ ${1:-} != --record ]] || { record=$root/docs/results/families.json; shift; }
if [[ -z ${MASKWRIGHT:-} || -z ${MASKWRIGHT_MODELS:-} ]]; then
    cargo build --quiet --release --manifest-path "$root/Cargo.toml" --package maskwright-harness --package maskwright-models --bins
fi
maskwright=${MASKWRIGHT:-$target/release/maskwright}
models=${MASKWRIGHT_MODELS:-$target/release/maskwright-models}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
families=(${FAMILIES:-$("$models" families --names)})
directories=()
vocab_size=$(sed -n 's/.*"vocab_size": \([0-9]*\).*/\1/p' "$root/models/builtin/config.json")
for family in "${families[@]}"; do
    "$models" random-checkpoint "$scratch/$family" --family "$family" --tokenizer builtin --vocab-size "$vocab_size"
    directories+=("$scratch/$family")
done
[[ $# -gt 0 ]] || set -- --datasets builtin --limit 20 --shots 0 --max-tokens 256
options="$*"
"$maskwright" bench --quiet --model "$(IFS=,; echo "${directories[*]}")" --out "$scratch/run" "$@" >"$scratch/tables" ||
    { cat "$scratch/tables" >&2; exit 1; }
OPTIONS=$options RECORD=$record python3 - "$scratch/run" "${families[@]}" <<'PYTHON'
import json
import os
import sys
from pathlib import Path

run, families = Path(sys.argv[1]), sys.argv[2:]
rows = json.loads((run / "report.json").read_text())["rows"]
names = ["maskwright", "llguidance", "none"]
table = [
    (["family", "valid answers: maskwright", "llguidance", "model alone"], ["ms per token: maskwright", "llguidance", "model alone"]),
    (["---"] + ["--:"] * 3, ["--:"] * 3),
]
incomplete = []
for family in families:
    of_family = {row["framework"]: row for row in rows if Path(row["model"]).name == family}
    chosen = [of_family.get(name) for name in names]
    if None in chosen or any(row["instances"] != row["planned"] or row["unanswered"] for row in chosen):
        incomplete.append(family)
    valid = [f"{row['valid']} of {row['instances']}" if row else "not run" for row in chosen]
    times = [f"{row['tpot_ms']:.2f}" if row and row.get("tpot_ms") is not None else "not run" for row in chosen]
    table.append(([f"`{family}`"] + valid, times))
manifest = json.loads((run / "manifest.json").read_text())
hardware, program = manifest["hardware"], manifest["program"]
source = (
    f"\n`scripts/bench-families.sh {os.environ['OPTIONS']}` on {hardware['cpus']} × {hardware['cpu']}, {hardware['os']}; "
    f"maskwright {program['version']} at commit {program['commit']}; {manifest['started'][:10]}."
)


def markdown(cells: list[list[str]]) -> str:
    return "\n".join([f"| {' | '.join(row)} |" for row in cells] + [source]) + "\n"


print(markdown([valid + times for valid, times in table]), end="")
if incomplete:
    sys.exit(f"no complete run of: {', '.join(incomplete)}")
if os.environ["RECORD"]:
    Path(os.environ["RECORD"]).write_text(json.dumps({"markdown": markdown([valid for valid, _ in table])}, indent=2, ensure_ascii=False) + "\n")
PYTHON
