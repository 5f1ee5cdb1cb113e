#!/usr/bin/env bash
# Compares models from GGUF files that llama.cpp's own quantiser wrote with llama.cpp. See README.md.
#
#   scripts/compare-llamacpp/quantised.sh [quantised.py's arguments]
#
# Builds llama.cpp on the first run, by pip from the sources of llama-cpp-python: a C++ compiler is needed, and five to ten minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
environment=$target/compare-llamacpp

if [ ! -e "$environment/installed" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet cmake ninja
    PATH=$environment/bin:$PATH CMAKE_ARGS="-DGGML_NATIVE=ON -DLLAMA_CURL=OFF" \
        "$environment/bin/pip" install --quiet --no-binary llama-cpp-python --requirement "$here/requirements.txt"
    touch "$environment/installed"
fi
cargo build --quiet --release --manifest-path "$root/Cargo.toml" --package maskwright-models --bins
exec "$environment/bin/python" "$here/quantised.py" \
    --ours "$target/release/maskwright-models" "$@"
