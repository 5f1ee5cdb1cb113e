#!/usr/bin/env bash
# Drives the Python package with the servers and libraries that it is for: vLLM's manager of structured outputs, SGLang's grammar backend, and the
# processors of transformers, Outlines and mlx-lm with the built-in model. No GPU is needed, and no server is started.
#
#   scripts/check-serving.sh [--venv DIRECTORY] [--wheel FILE]     some 5 GB are downloaded and 10 GB kept there, by default in
#                                                                  target/check-serving/venv
#
# The wheel is built here, unoptimised, unless one is named.
# Packages come from pip's registry, in the versions that the package is written for. A directory that has them is used as it is; delete it to
# install them anew. Needs CPython 3.11 or 3.12 on Linux with venv and pip, and cargo.
set -euo pipefail
venv=
wheel=
while [ $# -gt 0 ]; do
    case $1 in
        --venv) venv=$(realpath -m "$2") ;;
        --wheel) wheel=$(realpath "$2") ;;
        *) echo "not known: $1" >&2 && exit 2 ;;
    esac
    shift 2
done
[[ ${PYTHON-} != [!/]*/* ]] || PYTHON=$PWD/$PYTHON
cd "$(dirname "$0")/.."

place=$PWD/target/check-serving
venv=${venv:-$place/venv}
here=$PWD/scripts/check-serving
mkdir -p "$place"

if [ ! -e "$venv/installed" ]; then
    echo "installing torch, transformers, vLLM, SGLang, xgrammar, llguidance, Outlines and mlx into $venv:"
    echo "some 5 GB are downloaded and 10 GB kept; a quarter of an hour"
    df -h "$(dirname "$venv")" | tail -n 1
    "${PYTHON:-python3}" -m venv "$venv"
    pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check install)
    "${pip[@]}" --requirement "$here/requirements.txt"
    # It asks for other patches of torch and transformers than vLLM, and for kernels that only a GPU runs.
    "${pip[@]}" --no-deps --requirement "$here/requirements-sglang.txt"
    touch "$venv/installed"
fi

if [ -z "$wheel" ]; then
    echo "building the wheel, unoptimised, and driving it: some five minutes"
    rm -rf "$place/wheels"
    # Without the command line, which scripts/check-python.sh looks at.
    "$venv/bin/maturin" build --manifest-path python/Cargo.toml --profile dev --compatibility linux --locked --quiet --out "$place/wheels"
    wheel=$(ls "$place"/wheels/maskwright-*.whl)
fi
"$venv/bin/python" -m pip --quiet --disable-pip-version-check install --force-reinstall --no-index --no-deps "$wheel"

model=$PWD/models/builtin
tests=$PWD/python/tests
examples=$PWD/python/examples
# Away from the sources, so that the installed package is the one that is found.
cd "$place"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false VLLM_LOGGING_LEVEL=WARNING
run() {
    echo "== ${1##*/}"
    "$venv/bin/python" "$@"
}
run -mpytest --quiet -p no:cacheprovider "$tests"
run "$here/record_structural_tags.py" "$tests/structural_tags.json" --check
run "$here/with_vllm.py" "$model"
run "$here/with_sglang.py" "$model"
run "$examples/transformers_generate.py"
run "$examples/outlines_generate.py"
run "$examples/mlx_generate.py"
