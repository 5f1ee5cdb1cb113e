#!/usr/bin/env bash
# Type-checks the `cuda` feature on a machine without the CUDA toolkit: a stand-in for nvcc writes empty kernels, so that
# the Rust code that calls them compiles. Nothing that this builds can run.
set -euo pipefail
cd "$(dirname "$0")/.."
stand_in=$(mktemp -d)
trap 'rm -rf "$stand_in"' EXIT
mkdir "$stand_in/bin"
cat >"$stand_in/bin/nvcc" <<'NVCC'
#!/usr/bin/env bash
case " $* " in *" --version "*) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit ;; esac
while [ $# -gt 0 ]; do
  case $1 in
    -o) : >"$2"; shift ;;
    --output-directory) directory=$2; shift ;;
    *.cu) [ -z "${directory:-}" ] || : >"$directory/$(basename "${1%.cu}").ptx" ;;
  esac
  shift
done
NVCC
chmod +x "$stand_in/bin/nvcc"
PATH="$stand_in/bin:$PATH" CUDA_HOME="$stand_in" CUDA_COMPUTE_CAP=80 CUDARC_CUDA_VERSION=13000 \
  cargo check --locked -p maskwright-models --features cuda
