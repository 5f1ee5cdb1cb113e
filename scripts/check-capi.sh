#!/usr/bin/env bash
# Installs the library for C, and builds and runs its examples: one alone, and one that drives llama.cpp, where that is installed.
#
#   scripts/check-capi.sh [LLAMA_PREFIX]
#
# LLAMA_PREFIX has llama.cpp's include/llama.h and lib/libllama.so, as `cmake --install` and the Python package llama-cpp-python put them
# there. The model is the built-in one, written as a GGUF file. Needs a C compiler.
set -euo pipefail
llama=
[ $# -eq 0 ] || llama=$(cd "$1" && pwd)
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

if [ -z "$llama" ]; then
    echo "llama.cpp's example is not checked: give the prefix of an installed llama.cpp"
    exit 0
fi
# Headers and libraries of llama.cpp warn of nothing of ours.
"$compiler" "${flags[@]}" -isystem "$llama/include" capi/examples/llama/*.c -L "$place/lib" -lmaskwright_c -L "$llama/lib" -lllama \
    -Wl,-rpath,"$place/lib" -Wl,-rpath,"$llama/lib" -Wl,-rpath-link,"$llama/lib" -lm -o "$place/llama-answer"
cargo run --quiet --locked --release --package maskwright-models --bin maskwright-models -- \
    export-gguf builtin "$place/model.gguf" --pre-tokenizer superbpe
# prompt ORDERS: a prompt of about ten tokens for each order.
prompt() { printf 'An order of %d books. ' $(seq "$1"); }
answer() { "$place/llama-answer" "$place/model.gguf" examples/order.schema.json "$@"; }
# The second has more than the 512 tokens of llama.cpp's default context.
for orders in 1 70; do
    answer "$(prompt $orders)" 200 >"$place/answer.json"
    cat "$place/answer.json"
    cargo run --quiet --locked --release -- check examples/order.schema.json --instance "$place/answer.json"
done
# The model's context has 4,096 tokens.
! answer "$(prompt 800)" 200 2>"$place/refusal" || { echo "a prompt longer than the model's context is answered" >&2; exit 1; }
grep -q "too long" "$place/refusal" || { cat "$place/refusal" >&2; exit 1; }
