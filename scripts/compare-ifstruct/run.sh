#!/usr/bin/env bash
# Compares this project's IFStruct validator with the public one, reply by reply, and its reading of YAML with PyYAML's.
# See README.md.
#
#   scripts/compare-ifstruct/run.sh DIRECTORY [verdicts.py's arguments]
#
# DIRECTORY is a checkout of https://github.com/Liquid4All/ifstruct. Installs PyYAML in a virtual environment
# (target/compare-ifstruct) on the first run, unless PYTHON names an interpreter that has it. Some minutes.
set -euo pipefail
public=$(cd "${1:?give a checkout of https://github.com/Liquid4All/ifstruct}" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

if [[ -z ${PYTHON:-} ]]; then
    environment=$target/compare-ifstruct
    PYTHON=$environment/bin/python
    if [[ ! -e $environment/installed ]]; then
        python3 -m venv "$environment"
        "$PYTHON" -m pip install --quiet --requirement "$here/requirements.txt"
        touch "$environment/installed"
    fi
fi

cargo build --quiet --release --manifest-path "$root/Cargo.toml" --package maskwright-harness
exec "$PYTHON" "$here/verdicts.py" "$public" --program "$target/release/maskwright" "$@"
