#!/usr/bin/env bash
# Measures a run in parts on a Slurm cluster, then puts the parts together and writes the report.
#
#   scripts/slurm/submit.sh OUT PARTS COMMAND [OPTIONS…]
#   MASKWRIGHT=target/cuda/release/maskwright scripts/slurm/submit.sh runs/models 24 bench --device cuda --model A --model B --model C --datasets Github_easy --limit 300
#
# COMMAND is one of maskwright's long ones: bench, masks, quality, coverage, testsuite, `ifstruct run`. The job array has PARTS tasks, and
# models come first: with 24 parts of 3 models each task loads one. A task whose time ends, or whose node is lost or taken away, goes into
# the queue again and continues its part; give parts of one run to nodes of one kind (`SBATCH_PART='--constraint=… …'`), as a part is not
# continued on another. A second job, which begins when all parts are whole, writes the run to OUT/whole and its page to OUT/report.html; it
# is dropped where a part failed. The same call again continues what is not whole, and writes the page anew.
#
#   MASKWRIGHT=PROGRAM         the program [default: target/release/maskwright]
#   SBATCH_PART=OPTIONS        options of sbatch for each part [default: --gres=gpu:1 --time=04:00:00]
#   SBATCH_MERGE=OPTIONS       options of sbatch for the job behind them [default: --time=00:30:00]
#
# OUT and the program lie on a file system that all nodes share. Prints the ids of the two jobs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 3 ] || { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
out=$1 parts=$2
shift 2
[[ $parts =~ ^[1-9][0-9]*$ ]] || { echo "$0: PARTS is a number from 1, not $parts" >&2; exit 2; }
command -v sbatch >/dev/null || { echo "$0 needs Slurm's sbatch" >&2; exit 2; }
MASKWRIGHT=$(realpath "${MASKWRIGHT:-$here/../../target/release/maskwright}")
[ -x "$MASKWRIGHT" ] || { echo "$0: there is no program $MASKWRIGHT: cargo build --release, or set MASKWRIGHT" >&2; exit 2; }
mkdir -p "$out/log"
out=$(realpath "$out")
export MASKWRIGHT MASKWRIGHT_OUT=$out MASKWRIGHT_PARTS=$parts
read -ra of_part <<<"${SBATCH_PART---gres=gpu:1 --time=04:00:00}"
read -ra of_merge <<<"${SBATCH_MERGE---time=00:30:00}"
measured=$(sbatch --parsable --export=ALL --array="0-$((parts - 1))" --output="$out/log/part-%a.log" "${of_part[@]}" "$here/part.sbatch" "$@")
measured=${measured%%;*}
merged=$(sbatch --parsable --export=ALL --dependency="afterok:$measured" --kill-on-invalid-dep=yes --output="$out/log/merge.log" "${of_merge[@]}" "$here/merge.sbatch")
echo "$measured ${merged%%;*}"
