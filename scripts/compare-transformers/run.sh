#!/usr/bin/env bash
# Compares this project's models with Hugging Face transformers: greedy tokens and logits of small random
# checkpoints of each family, and rendered chat templates. See README.md.
#
#   scripts/compare-transformers/run.sh [compare.py's arguments]
#   scripts/compare-transformers/run.sh --templates DIRECTORY     chat templates of a directory only
#
# Installs torch and transformers in a virtual environment (target/compare-transformers) on the first run, unless PYTHON
# names an interpreter that has them. Needs no GPU and no model download; some minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

if [[ -z ${PYTHON:-} ]]; then
    environment=$target/compare-transformers
    PYTHON=$environment/bin/python
    if [[ ! -e $environment/installed ]]; then
        python3 -m venv "$environment"
        "$PYTHON" -m pip install --quiet --requirement "$here/requirements.txt"
        touch "$environment/installed"
    fi
fi

cargo build --quiet --release --manifest-path "$root/Cargo.toml" --package maskwright-models --bins
if [[ ${1:-} == --templates ]]; then
    exec "$PYTHON" "$here/all_templates.py" --program "$target/release/maskwright-models" "$2"
fi
"$PYTHON" "$here/chat_templates.py"
exec "$PYTHON" "$here/compare.py" --program "$target/release/maskwright-models" "$@"
