#!/usr/bin/env bash
# Holds scripts/kubernetes/job.yaml against the schema of Kubernetes' API, which the Python package kubernetes-validate brings, and its
# numbers of parts against each other. Needs Python with venv and a package index.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet kubernetes-validate==1.31.0
"$environment/bin/kubernetes-validate" --strict scripts/kubernetes/job.yaml
"$environment/bin/python" - <<'PYTHON'
import yaml

job = yaml.safe_load(open("scripts/kubernetes/job.yaml"))["spec"]
variables = {one["name"]: one["value"] for one in job["template"]["spec"]["containers"][0]["env"]}
assert variables["JOB_COMPLETIONS"] == str(job["completions"]), "JOB_COMPLETIONS is not the number of completions"
container = job["template"]["spec"]["containers"][0]
if "nvidia.com/gpu" in container["resources"]["limits"]:
    assert container["args"][container["args"].index("--device") + 1] == "cuda", "a GPU is reserved and not used"
assert job["parallelism"] <= job["completions"], "more pods at a time than parts"
print("scripts/kubernetes/job.yaml is a Job of", job["completions"], "parts")
PYTHON
