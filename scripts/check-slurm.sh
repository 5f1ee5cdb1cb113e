#!/usr/bin/env bash
# Runs scripts/slurm/ on a Slurm cluster of one machine, which it starts and ends: a run of `masks` over the built-in sample's schemas in
# six parts, one of them killed in the middle and one at the end of its time, both put into the queue again; merged, it has the records of the run in one piece, times
# aside. Then the same call makes a lost report and a half-written merge anew. Needs root, as slurmd does.
#
#   apt-get install slurm-wlm jq
#   scripts/check-slurm.sh                     # the program in target/release, built where there is none
#   MASKWRIGHT=PROGRAM scripts/check-slurm.sh  # or takes this one
set -euo pipefail
[ -z "${MASKWRIGHT-}" ] || MASKWRIGHT=$(realpath "$MASKWRIGHT")
cd "$(dirname "$0")/.."
for needed in slurmctld slurmd sbatch; do
  command -v "$needed" >/dev/null || { echo "$0 needs $needed: apt-get install slurm-wlm" >&2; exit 2; }
done
command -v jq >/dev/null || { echo "$0 needs jq: apt-get install jq" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "$0 needs root, as slurmd does" >&2; exit 2; }
if [ -z "${MASKWRIGHT-}" ]; then
  MASKWRIGHT=${CARGO_TARGET_DIR:-target}/release/maskwright
  [ -x "$MASKWRIGHT" ] || cargo build --release --locked
fi
MASKWRIGHT=$(realpath "$MASKWRIGHT")
work=$(mktemp -d)
chmod 755 "$work"
end() {
  pkill -f "slurmd .*$work" || true
  pkill -f "slurmctld .*$work" || true
  sleep 1
  rm -rf "$work"
}
trap end EXIT

# A cluster of this machine alone. `auth/none` trusts everyone: the ports listen on the loopback device only.
export SLURM_CONF=$work/slurm.conf
mkdir "$work/state" "$work/spool"
host=$(hostname -s)
cat >"$SLURM_CONF" <<CONF
ClusterName=check
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPort=6917
SlurmdPort=6918
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=5
RebootProgram=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -f "$SLURM_CONF" -L "$work/slurmctld.log"
slurmd -f "$SLURM_CONF" -L "$work/slurmd.log"
for _ in $(seq 60); do
  sinfo --noheader --format=%t 2>/dev/null | grep -q idle && break
  sleep 1
done
sinfo --noheader --format=%t | grep -q idle || { echo "the cluster does not start:" >&2; tail "$work"/slurm*.log >&2; exit 1; }

# What the run measures: small schemas, as many as six parts share well.
mkdir "$work/data"
for number in $(seq 60); do
  cat >"$work/data/o---$number.json" <<JSON
{"schema": {"type": "object", "properties": {"n": {"maximum": $number}}, "required": ["n"]},
 "tests": [{"valid": true, "data": {"n": 1}}, {"valid": false, "data": {"n": $((number + 1))}}]}
JSON
done
run=(masks --data "$work/data" --frameworks maskwright,llguidance --repeat 100)

export MASKWRIGHT SBATCH_PART="" SBATCH_MERGE=""
read -r measured merged < <(scripts/slurm/submit.sh "$work/out" 6 "${run[@]}")
# Waits until part $1 has records, and prints how many.
begun() {
  for _ in $(seq 1200); do
    [ -s "$work/out/shard-$1-of-6/records.jsonl" ] && break
    sleep 0.05
  done
  wc -l <"$work/out/shard-$1-of-6/records.jsonl"
}
first=$(begun 1)
scontrol requeue "${measured}_0"
second=$(begun 2)
# What Slurm sends to the script of a task two minutes before the end of its time.
for script in $(pgrep -f slurm_script); do
  environment=$(tr '\0' '\n' <"/proc/$script/environ" || true)
  # The machine may also be a node of another cluster.
  if grep -qx SLURM_CLUSTER_NAME=check <<<"$environment" && grep -qx SLURM_ARRAY_TASK_ID=1 <<<"$environment"; then
    kill -USR1 "$script"
  fi
done
echo "part 1 had $first records when it was killed, part 2 had $second at the end of its time"
# Waits until both jobs have ended.
ended() {
  for _ in $(seq 300); do
    [ -n "$(squeue --noheader --jobs "$measured,$merged" 2>/dev/null)" ] || break
    # A task that was put into the queue again waits for a while before it may begin.
    for task in 0 1; do
      scontrol release "${measured}_$task" 2>/dev/null || true
      scontrol update "JobId=${measured}_$task" StartTime=now 2>/dev/null || true
    done
    sleep 1
  done
}
ended
[ -s "$work/out/whole/report.md" ] || { echo "no whole run came out of it:" >&2; tail "$work"/out/log/* >&2; exit 1; }
[ -s "$work/out/report.html" ] || { echo "no report came out of it" >&2; exit 1; }

"$MASKWRIGHT" "${run[@]}" --out "$work/one" --quiet >/dev/null
# Records without what is measured anew each time.
untimed() {
  jq -c --sort-keys 'walk(if type == "object" then with_entries(select(.key | test("(_s|_us|_ns|_bytes|_mib)$") | not)) else . end)
    | {framework, file, instances, refused, failure, unusable}' "$1" | sort
}
untimed "$work/one/records.jsonl" >"$work/one.txt"
untimed "$work/out/whole/records.jsonl" >"$work/whole.txt"
[ "$(wc -l <"$work/one.txt")" = 120 ] || { echo "the run in one piece has $(wc -l <"$work/one.txt") records, not 120" >&2; exit 1; }
diff "$work/one.txt" "$work/whole.txt" >&2 || { echo "the merged run has other records than the run in one piece" >&2; exit 1; }
for part in 1 2; do
  begun=$first
  [ $part = 1 ] || begun=$second
  whole=$(wc -l <"$work/out/shard-$part-of-6/records.jsonl")
  [ "$begun" -lt "$whole" ] || { echo "part $part was whole before it was stopped: nothing was tried" >&2; exit 1; }
done
grep -q "interrupted" "$work/out/log/part-1.log" || { echo "part 2 was not stopped between two records" >&2; exit 1; }

# The same call again, behind a report that failed and a merge that was killed.
again() {
  rm "$work/out/report.html"
  read -r measured merged < <(scripts/slurm/submit.sh "$work/out" 6 "${run[@]}")
  ended
  [ -s "$work/out/whole/report.json" ] && [ -s "$work/out/report.html" ] || { echo "$1 is not made anew:" >&2; tail "$work"/out/log/* >&2; exit 1; }
}
again "a lost report"
mv "$work/out/whole" "$work/out/whole.part"
rm "$work/out/whole.part/report.json"
again "a half-written merge"
untimed "$work/out/whole/records.jsonl" | diff "$work/whole.txt" - >&2 || { echo "the second merge has other records" >&2; exit 1; }
echo "six parts on Slurm, two stopped and continued: 120 records, the same as in one piece, times aside"
