#!/usr/bin/env bash
# Runs `maskwright bench` against a real server with the built-in model: the server is killed half-way and started again, and
# the run has to resume. See README.md.
#
#   scripts/compare-server/run.sh [maskwright bench's further arguments]
#
# PYTHON names an interpreter that has llama-cpp-python[server]; without it, that is built into a virtual environment
# (target/compare-server), which takes ten minutes on two cores. PORT, LIMIT and KILL_AT (answers) may be set.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
port=${PORT:-8911} limit=${LIMIT:-12} kill_at=${KILL_AT:-5}

if [[ -z ${PYTHON:-} ]]; then
    environment=$target/compare-server
    PYTHON=$environment/bin/python
    if [[ ! -e $environment/installed ]]; then
        python3 -m venv "$environment"
        "$PYTHON" -m pip install --quiet 'llama-cpp-python[server]==0.3.36'
        touch "$environment/installed"
    fi
fi

cargo build --quiet --release --manifest-path "$root/Cargo.toml" --package maskwright-models --package maskwright-harness --bins
work=$(mktemp -d)
server=
stop() { if [[ -n $server ]]; then kill -9 "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; server=; fi; }
trap 'stop; rm -rf "$work"' EXIT

# Of llama.cpp's ways of cutting texts into words, this one comes closest to the model's own.
"$target/release/maskwright-models" export-gguf builtin "$work/model.gguf" --pre-tokenizer superbpe

start() {
    "$PYTHON" -m llama_cpp.server --model "$work/model.gguf" --port "$port" --n_ctx 4096 --n_threads 1 >>"$work/server.log" 2>&1 &
    server=$!
    for _ in $(seq 120); do
        if curl --silent --fail "http://localhost:$port/v1/models" >/dev/null; then return; fi
        kill -0 "$server" 2>/dev/null || break
        sleep 0.5
    done
    echo "the server does not start:" >&2
    tail -20 "$work/server.log" >&2
    exit 1
}

bench() {
    "$target/release/maskwright" bench --limit "$limit" --out "$work/run" \
        --server "llama=http://localhost:$port/v1,model=builtin,dialect=llama-server,retries=1" "$@"
}
answered() { grep -c '"outcome":"finished"' "$work/run/records.jsonl" 2>/dev/null || true; }

start
bench "$@" >"$work/first.log" 2>&1 &
first=$!
while [[ $(answered || echo 0) -lt $kill_at ]]; do
    kill -0 "$first" 2>/dev/null || break
    sleep 0.2
done
stop
status=0
wait "$first" || status=$?
before=$(answered)
echo "killed the server: exit code $status, $before of $limit answered"
[[ $status == 5 ]] || { tail -5 "$work/first.log" >&2; echo "expected exit code 5 (unanswered questions)" >&2; exit 1; }

start
status=0
bench --resume "$@" || status=$?
echo "resumed: exit code $status, $(answered) of $limit answered"
[[ $status == 0 && $(answered) -ge $limit ]]
