#!/usr/bin/env bash
# Runs the benchmarks that the documents show, and records what they found in docs/results/.
#
#   scripts/record-results.sh masks --frameworks maskwright,maskwright-generation,llguidance,glrmask
#   scripts/record-results.sh testsuite --frameworks maskwright,llguidance
#   scripts/record-results.sh bench
#
# Options after the name go to the command. Then `MASKWRIGHT_UPDATE_DOCS=1 cargo test -p maskwright-harness docs` puts the
# figures into the documents. Quiet machines give steadier figures: nothing else should run meanwhile.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
name=${1-}
case "$name" in masks | testsuite | bench) shift ;; *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
command -v python3 >/dev/null || { echo "$0 needs python3" >&2; exit 2; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cargo run --release --locked --manifest-path "$root/Cargo.toml" -- "$name" --out "$out/run" "$@" >/dev/null
ROOT=$root COMPILER=$(rustc --version | cut -d' ' -f1,2) python3 - "$name" "$out/run" "$@" <<'PYTHON'
import json
import os
import re
import sys
from pathlib import Path

name, run, *options = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]
manifest = json.loads((run / "manifest.json").read_text())
report = json.loads((run / "report.json").read_text())
# Where the data lie on this machine is nobody's business.
shown = [name, *(option for place, option in enumerate(options) if "--data" not in (option, (["", *options])[place]))]
record = {
    "command": " ".join(["maskwright", *shown]),
    "started": manifest["started"],
    "program": manifest["program"],
    "hardware": manifest["hardware"],
    "compiler": os.environ["COMPILER"],
    "settings": {"frameworks": manifest["settings"]["frameworks"]},
}
if name == "bench":
    # The tables; what stands over them is said in the documents' own way.
    text = (run / "report.md").read_text()
    record["markdown"] = text[text.index("**Coverage") :]
else:
    record["frameworks"] = report["frameworks"]
    for framework in record["frameworks"].values():
        for member in ("by_category", "compile_error_reasons", "failures"):
            framework.pop(member, None)
path = Path(os.environ["ROOT"]) / "docs/results" / f"{name}.json"
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
print(f"recorded in {path}")
PYTHON
