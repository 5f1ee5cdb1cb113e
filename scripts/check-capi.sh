#!/usr/bin/env bash
# Installs the library for C, and builds and runs its examples: one alone, and one that drives llama.cpp, where that is installed.
#
#   scripts/check-capi.sh [LLAMA_PREFIX]
#
# LLAMA_PREFIX has llama.cpp's include/llama.h and lib/libllama.so, as `cmake --install` and the Python package llama-cpp-python put them
# there. The model is the built-in one, written as a GGUF file. Needs a C compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$PWD/target/check-capi
rm -rf "$place"
mkdir -p "$place"
compiler=${CC:-cc}
flags=(-std=c11 -Wall -Wextra -Werror -O1 -I "$place/include")

scripts/install-capi.sh "$place"
"$compiler" "${flags[@]}" capi/examples/answer.c "$place/lib/libmaskwright_c.a" -lpthread -ldl -lm -lgcc_s -o "$place/answer"
"$place/answer"
"$compiler" "${flags[@]}" capi/examples/answer.c -L "$place/lib" -lmaskwright_c -Wl,-rpath,"$place/lib" -o "$place/answer-shared"
[ "$("$place/answer-shared")" = "$("$place/answer")" ]

if [ $# -eq 0 ]; then
    echo "llama.cpp's example is not checked: give the prefix of an installed llama.cpp"
    exit 0
fi
# Headers and libraries of llama.cpp warn of nothing of ours.
"$compiler" "${flags[@]}" -isystem "$1/include" capi/examples/llama/*.c -L "$place/lib" -lmaskwright_c -L "$1/lib" -lllama \
    -Wl,-rpath,"$place/lib" -Wl,-rpath,"$1/lib" -Wl,-rpath-link,"$1/lib" -lm -o "$place/llama-answer"
cargo run --quiet --locked --release --package maskwright-models --bin maskwright-models -- \
    export-gguf builtin "$place/model.gguf" --pre-tokenizer superbpe
"$place/llama-answer" "$place/model.gguf" examples/order.schema.json "An order:" 200 >"$place/answer.json"
cat "$place/answer.json"
cargo run --quiet --locked --release -- check examples/order.schema.json --instance "$place/answer.json"
