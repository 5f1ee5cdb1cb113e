#!/usr/bin/env bash
# Measures decoding on a machine with a GPU beside what its memory allows, and writes a table. It needs the binaries of
# `scripts/build-cuda.sh -p maskwright-models --bins` and their CUDA libraries, nothing else of the source, and fetches nothing.
#
#     scripts/gpu-report.sh [--device cuda:N] [--out DIRECTORY] [BINARIES]
#     scripts/gpu-report.sh --dry-run --device cpu       # all of it with small shapes, on any machine
#
# For each shape it writes a checkpoint of random weights, holds its forward pass against the CPU's (logits, greedy tokens, runs
# of forced tokens, rollbacks), and has `bench` answer built-in schemas under maskwright, llguidance and no mask, batch 1. Random
# weights answer nothing sensible, but take the time that trained ones take. Answers of the model alone are as long as allowed.
#
# DIRECTORY (gpu-report) gets gpu.json, which docs/results/ records, report.md, and all that the commands printed; what an earlier report left
# there is deleted. Ends with status 1 where a check failed. With LIMIT=8 and MAX_TOKENS=150 it took 214 seconds on one H200.
#
# Variables: SHAPES are the presets (llama-3.2-1b llama-3.1-8b), LIMIT the schemas of each (12), MAX_TOKENS the longest answer (200).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
device=cuda out=gpu-report dry= binaries=
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=1 ;;
    --device) device=${2:?--device needs a device}; shift ;;
    --out) out=${2:?--out needs a directory}; shift ;;
    -*) sed -n '2,18s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) binaries=$1 ;;
  esac
  shift
done
if [ -n "$dry" ]; then
  shapes=${SHAPES:-tiny small} limit=${LIMIT:-3} tokens=${MAX_TOKENS:-30} count=4 prompts=1,40
else
  shapes=${SHAPES:-llama-3.2-1b llama-3.1-8b} limit=${LIMIT:-12} tokens=${MAX_TOKENS:-200} count=8 prompts=12,100
fi
default=$here/../target/cuda/release
[ -x "$default/maskwright-models" ] || default=$here/../target/release
binaries=$(cd "${binaries:-$default}" 2>/dev/null && pwd) || binaries=/nowhere
for name in maskwright maskwright-models; do
  [ -x "$binaries/$name" ] || { echo "gpu-report.sh: no $name: run scripts/build-cuda.sh -p maskwright-models --bins" >&2; exit 1; }
done
PATH=$binaries:$PATH
# shellcheck source=cuda-libraries.sh
. "$here/cuda-libraries.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ ! -e "$out/.gpu-report" ] && [ -n "$(ls -A "$out" 2>/dev/null)" ]; then
  echo "gpu-report.sh: $out holds what is no report of this script: delete it, or name another directory with --out" >&2
  exit 1
fi
rm -rf "$out"
mkdir -p "$out" && out=$(cd "$out" && pwd) && touch "$out/.gpu-report" || exit 1

failed=
# step NAME COMMAND...: runs a command whose output goes to files of that name.
step() {
  local name=$1 start=$SECONDS
  shift
  if "$@" >"$out/$name.txt" 2>"$out/$name.err"; then
    echo "$name: done ($((SECONDS - start)) s)" >&2
  else
    echo "$name: FAILED ($((SECONDS - start)) s): $*" >&2
    tail -n 5 "$out/$name.txt" "$out/$name.err" >&2
    failed="$failed $name"
    return 1
  fi
}

# The records of a run as lines: framework, schema, TTFT (ms), TPOT (ms), output tokens, forced tokens, passes, us of a mask, of that
# exposed; only schemas that every framework answered.
records() {
  awk '
    function member(name) {
      if (!match($0, "\"" name "\":[^,}]*")) return "-"
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
    }
    /"tpot_ms":[0-9]/ {
      framework = member("framework"); schema = member("instance")
      gsub(/"/, "", framework); gsub(/"/, "", schema)
      if (!(schema in answered)) answered[schema] = 0
      answered[schema]++
      frameworks[framework] = 1
      line[++lines] = framework " " schema " " member("ttft_s") * 1000 " " member("tpot_ms") " " member("output_tokens") " " \
        member("forced_tokens") " " member("forward_passes") " " member("mask_us") " " member("exposed_mask_us")
      of[lines] = schema
    }
    END {
      for (framework in frameworks) count++
      for (i = 1; i <= lines; i++) if (answered[of[i]] == count) print line[i]
    }' "$1"
}
# median COLUMN FRAMEWORK < records
median() {
  awk -v column="$1" -v framework="$2" '$1 == framework { print $column }' | sort -g |
    awk '{ value[NR] = $1 } END { if (NR) print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2; else print 0 }'
}

step version maskwright --version || exit 1
if [ "$device" != cpu ]; then
  number=${device#cuda}; number=${number#:}
  step gpu nvidia-smi --id="${number:-0}" --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.mem,power.limit --format=csv,noheader
  hardware="$(cat "$out/gpu.txt"), $(nproc) processor cores"
else
  hardware="the CPU, $(nproc) × $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
fi
step memory-bandwidth maskwright-models memory-bandwidth --device "$device" || exit 1
bandwidth=$(cat "$out/memory-bandwidth.txt")
step parity-builtin maskwright-models compare-devices builtin --device "$device" --dtype f32 --repeats 5

{
  echo "| shape | framework | TPOT (ms) | weights over bandwidth (ms) | ratio | time per pass (ms) | TTFT (ms) | tokens (forced) | mask (us) | exposed (us) | exposed of a pass |"
  echo "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
} >"$out/table.md"
parity=
for shape in $shapes; do
  model=$scratch/$shape
  step "checkpoint-$shape" maskwright-models random-checkpoint "$model" --preset "$shape" --tokenizer builtin \
    --dtype bf16 --vocab-size "$([ -n "$dry" ] && echo 4096 || echo 128256)" || continue
  step "parity-$shape" maskwright-models compare-devices "$model" --device "$device" --dtype bf16 --count "$count" --prompts "$prompts" --repeats 3
  parity="$parity$(printf '\n%s: ' "$shape"; sed -n '2p' "$out/parity-$shape.txt" | cut -d';' -f1,2)"
  run=$scratch/run-$shape
  step "bench-$shape" maskwright bench --out "$run" --frameworks maskwright,llguidance,none --seed 1 --model "$model" --dtype bf16 \
    --device "$device" --limit "$limit" --max-tokens "$tokens" || continue
  cp "$run/records.jsonl" "$out/records-$shape.jsonl"
  cp "$run/manifest.json" "$out/manifest-$shape.json"
  records "$run/records.jsonl" >"$scratch/records"
  # Each weight is read once for a token, but for embeddings that are not also the output matrix.
  bytes=$(sed -n 's/.* \([0-9]*\) bytes of them read for a token.*/\1/p' "$out/parity-$shape.txt")
  for framework in none maskwright llguidance; do
    passes=$(awk -v framework="$framework" '$1 == framework { print $1, $2, $3, $4, $4 * ($5 - 1) / ($7 > 1 ? $7 - 1 : 1) }' "$scratch/records" | median 5 "$framework")
    awk -v shape="$shape" -v framework="$framework" -v tpot="$(median 4 "$framework" <"$scratch/records")" \
      -v bytes="$bytes" -v bandwidth="$bandwidth" -v pass="$passes" -v ttft="$(median 3 "$framework" <"$scratch/records")" \
      -v tokens="$(median 5 "$framework" <"$scratch/records")" -v forced="$(median 6 "$framework" <"$scratch/records")" \
      -v mask="$(median 8 "$framework" <"$scratch/records")" -v exposed="$(median 9 "$framework" <"$scratch/records")" 'BEGIN {
        limit = bytes / bandwidth * 1000
        name = framework == "none" ? "model alone" : framework
        printf "| %s | %s | %.3f | %.3f | %.2f | %.3f | %.1f | %d (%d) |", shape, name, tpot, limit, tpot / limit, pass, ttft, tokens, forced
        if (framework == "none") print " NA | NA | NA |"
        else printf " %.1f | %.1f | %.2f %% |\n", mask, exposed, exposed / pass / 10
      }' >>"$out/table.md"
  done
  rm -rf "$model" "$run"
done

{
  cat "$out/table.md"
  echo
  printf 'Medians over the schemas that all answered. Memory read at %.0f GB/s (measured). ' "$(awk -v b="$bandwidth" 'BEGIN { print b / 1e9 }')"
  echo "Weights in bf16, random; batch 1; greedy; a tokenizer of 2,048 tokens, as many logits as the shape has. TPOT: time per token after the first, forced ones"
  echo "included; ratio: TPOT beside weights over bandwidth; mask: framework time per mask; exposed: the part that forward passes do not hide."
  echo
  echo "Against the CPU:"
  echo "$parity" | sed -n 's/^\(..*\)/- \1./p'
  echo "- built-in model, f32: $(sed -n '2p' "$out/parity-builtin.txt" | cut -d';' -f1,2)."
  echo
  echo "\`LIMIT=$limit MAX_TOKENS=$tokens scripts/gpu-report.sh\` on $hardware; $(cat "$out/version.txt"); $(date -u +%F)."
} >"$out/report.md"
awk 'BEGIN { printf "{\n  \"markdown\": \"" }
     { gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); printf "%s\\n", $0 }
     END { printf "\"\n}\n" }' "$out/report.md" >"$out/gpu.json"
cat "$out/report.md"
[ -z "$failed" ] || { echo "FAILED:$failed" >&2; exit 1; }
