#!/usr/bin/env bash
# Checks the build with GPU support on a machine with a GPU, and times it there; in under five minutes. It needs the binaries
# of `scripts/build-cuda.sh -p maskwright-models --bins`, nothing else of the source, and fetches nothing.
#
#     scripts/check-gpu.sh [DIRECTORY OF THE BINARIES]
#
# 1. The built-in model on the GPU against the CPU, in f32: logits, greedy tokens, rollbacks, answers from several threads.
# 2. `bench` with the built-in model on both: the answers must be the same.
# 3. A model of random weights and Llama 3.2 1B's shape, in bf16, against the CPU, and `bench` with it on the GPU: TPOT with each
#    framework and without one.
#
# Variables: DEVICE is the device to check (cuda; with cpu the script tries itself); PRESET the shape of 3 (llama-3.2-1b);
# OUT where all that was printed and the runs go (a directory of its own, removed at the end). Where the loader does not find the CUDA libraries,
# their folder is looked for in toolkits and in Python's packages. Ends with status 1 where anything failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binaries=$(cd "${1:-$here/../target/cuda/release}" 2>/dev/null && pwd) ||
  { echo "check-gpu.sh: no folder ${1:-target/cuda/release}: run scripts/build-cuda.sh -p maskwright-models --bins" >&2; exit 1; }
device=${DEVICE:-cuda}
preset=${PRESET:-llama-3.2-1b}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=${OUT:-$scratch/out}
mkdir -p "$out"
for name in maskwright maskwright-models; do
  [ -x "$binaries/$name" ] ||
    { echo "check-gpu.sh: no $binaries/$name: run scripts/build-cuda.sh -p maskwright-models --bins" >&2; exit 1; }
done

# shellcheck source=cuda-libraries.sh
PATH=$binaries:$PATH
. "$here/cuda-libraries.sh"

failed=()
# step NAME SECONDS COMMAND...: says what it does, what came out and how long it took.
step() {
  local name=$1 limit=$2 start=$SECONDS status=0
  shift 2
  printf '\n## %s\n' "$name"
  timeout --kill-after=5 "$limit" "$@" >"$out/$name.txt" 2>"$out/$name.err" || status=$?
  cat "$out/$name.txt"
  if [ $status != 0 ]; then
    tail -n 20 "$out/$name.err"
    echo "FAILED with status $status: $*"
    failed+=("$name")
  fi
  echo "($((SECONDS - start)) s)"
  return $status
}
bench() {
  "$binaries/maskwright" bench --out "$1" --frameworks "$2" --seed 1 "${@:3}"
}
export -f bench
export binaries

step version 20 "$binaries/maskwright" --version || {
  ldd "$binaries/maskwright" | grep 'not found'
  exit 1
}
if [ "$device" != cpu ]; then
  step gpu 20 nvidia-smi --query-gpu=name,driver_version,memory.total,memory.free,clocks.sm,clocks.mem,power.limit --format=csv
fi

step builtin-f32 50 "$binaries/maskwright-models" compare-devices builtin --device "$device" --dtype f32
step builtin-f16 20 "$binaries/maskwright-models" compare-devices builtin --device "$device" --dtype f16 --prompts 12,300
step bench-builtin-cpu 30 bash -c 'bench "$@"' - "$out/builtin-cpu" maskwright,none --model builtin --dtype f32 \
  --limit 6 --max-tokens 300
step bench-builtin-device 40 bash -c 'bench "$@"' - "$out/builtin-device" maskwright,none --model builtin --dtype f32 \
  --limit 6 --max-tokens 300 --device "$device"
answers() {
  grep -o '"text":"\([^"\\]\|\\.\)*"' "$1/records.jsonl"
}
answers "$out/builtin-cpu" >"$scratch/cpu"
answers "$out/builtin-device" >"$scratch/device"
total=$(wc -l <"$scratch/cpu")
other=$(diff "$scratch/cpu" "$scratch/device" | grep -c '^<')
echo "$((total - other)) of $total answers on $device are those of the CPU"
[ "$other" = 0 ] && [ "$total" != 0 ] || failed+=(answers)

model=$scratch/model
step random-checkpoint 60 "$binaries/maskwright-models" random-checkpoint "$model" --preset "$preset" --tokenizer builtin --dtype bf16 &&
  step random-bf16 75 "$binaries/maskwright-models" compare-devices "$model" --device "$device" --dtype bf16 --count 16 --prompts 12,300 --repeats 5 &&
  step random-bench 75 bash -c 'bench "$@"' - "$out/random" maskwright,llguidance,none --model "$model" --dtype bf16 \
    --limit 6 --max-tokens 200 --device "$device"

echo
if [ ${#failed[@]} = 0 ]; then
  echo "All checks passed, in $SECONDS s."
else
  echo "FAILED: ${failed[*]} (in $SECONDS s)"
  exit 1
fi
