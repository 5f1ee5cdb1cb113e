#!/usr/bin/env bash
# Trains the default model: generator, tokenizer, supervised training on schemas and requests of IFStruct, reinforcement
# learning (GRPO) on requests of IFStruct, export, evaluation.
#
#   scripts/train-default-model/run.sh [OUT]
#
# OUT defaults to models/builtin. Settings, all optional:
#   TOKENS     million tokens of the supervised training, padding included (default 60)
#   SHARE      how many in a hundred dialogues of the supervised training are requests of IFStruct (default 42)
#   STEPS      steps of GRPO (default 0: none)
#   INITIAL    folder of a model to begin with, as models/builtin; its tokenizer may be another one. `none`: random weights, and a tokenizer
#              trained anew (default: models/builtin, with its tokenizer)
#   PROCESSES  training processes with one thread each; one is right with a GPU (default: cores, or 1 with a GPU)
#   WORK       folder for the environment, data and checkpoints (default target/default-model)
#   PYTHON     interpreter that the environment is made with (default python3)
#
# A run that was cut off goes on from its last checkpoint in WORK; delete WORK/checkpoint.pt and WORK/grpo to
# start afresh.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=scripts/train-default-model
out=${1:-models/builtin}
work=${WORK:-target/default-model}
mkdir -p "$work"

if [ ! -x "$work/venv/bin/python" ]; then
  "${PYTHON:-python3}" -m venv "$work/venv"
fi
"$work/venv/bin/pip" install --quiet -r "$here/requirements.txt"
python=$work/venv/bin/python

cargo build --release -p maskwright-suites --bin dialogues
cargo build --release -p maskwright-harness
built=${CARGO_TARGET_DIR:-target}/release
generator=$built/dialogues

initial=${INITIAL:-models/builtin}
if [ -z "${INITIAL:-}" ] && [ ! -d "$work/tokenizer" ]; then
  mkdir "$work/tokenizer"
  cp "$initial/tokenizer.json" "$initial/tokenizer_config.json" "$work/tokenizer/"
fi
if [ "$initial" = none ]; then initial=; fi
if [ ! -f "$work/tokenizer/tokenizer_config.json" ]; then
  "$generator" --count 60000 --seed 1 --split train --ifstruct 50 --made-up-names --out "$work/tokenizer-dialogues.jsonl"
  "$python" "$here/tokenizer.py" --dialogues "$work/tokenizer-dialogues.jsonl" --out "$work/tokenizer"
fi

if [ -z "${PROCESSES:-}" ]; then
  PROCESSES=$("$python" -c 'import os, torch; print(1 if torch.cuda.is_available() else os.cpu_count())')
fi
# One thread per process: a barrier between threads in every operation costs more than averaging gradients once a step.
export OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
"$python" -m torch.distributed.run --standalone --nproc-per-node "$PROCESSES" "$here/train.py" --threads 1 \
  --generator "$generator" --program "$built/maskwright" --tokenizer "$work/tokenizer" --ifstruct "${SHARE:-42}" \
  ${initial:+--initial "$initial" --no-curriculum --stable 0.35} \
  --batch-tokens $((8192 / PROCESSES > 1152 ? 8192 / PROCESSES : 1152)) --million-tokens "${TOKENS:-60}" --work "$work" --out "$work/supervised"

result=$work/supervised
if [ "${STEPS:-0}" -gt 0 ]; then
  # Without this, candle counts the cores at each product.
  RAYON_NUM_THREADS=$(nproc)
  export RAYON_NUM_THREADS
  resume=$([ -d "$work/grpo" ] && echo --resume || true)
  "$built/maskwright" train --model "$work/supervised" --supervised-steps 0 --grpo-steps "$STEPS" --plain-references --made-up-names \
    --prompts 24 --group 8 --kl 0 --temperature 0.6 --grpo-learning-rate 1e-4 --samples 4000 --test-samples 200 --max-prompt-tokens 900 \
    --max-tokens 500 --checkpoint-every 5 --out "$work/grpo" $resume
  result=$work/grpo/model
fi
"$python" "$here/halve.py" --model "$result" --out "$out"

"$python" "$here/check.py" --model "$out" --generator "$generator"
"$python" "$here/evaluate.py" --model "$out" --generator "$generator" --count 300
