#!/usr/bin/env bash
# Runs the benchmark without arguments and puts its tables, with hardware and versions, into README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cargo run --release --locked -- bench --out "$out/run" >/dev/null
python3 - "$out/run" <<'PYTHON'
import json
import re
import sys
from pathlib import Path

run = Path(sys.argv[1])
manifest = json.loads((run / "manifest.json").read_text())
settings, hardware = manifest["settings"], manifest["hardware"]
frameworks = ", ".join(f"{f['name']} {f['version']}" for f in settings["frameworks"] if f["version"])
models = ", ".join(f"{m['name']} ({m['parameters'] / 1e6:.1f} M parameters)" for m in settings["models"])
source = (
    f"`cargo run --release -- bench` on {hardware['cpus']} × {hardware['cpu']}, {hardware['os']}; model threads: "
    f"{settings['threads']}; model: {models}; "
    f"{frameworks}; {manifest['started'][:10]}."
)
begin, end = "<!-- results: scripts/update-readme.sh -->", "<!-- /results -->"
readme = Path("README.md")
block = f"{begin}\n{(run / 'report.md').read_text().strip()}\n\n{source}\n{end}"
text, count = re.subn(re.escape(begin) + ".*?" + re.escape(end), lambda _: block, readme.read_text(), flags=re.S)
assert count == 1, "README.md has no place for the results"
readme.write_text(text)
PYTHON
