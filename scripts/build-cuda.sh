#!/usr/bin/env bash
# Builds the `maskwright` command with GPU support, on a machine that needs neither a GPU nor the CUDA toolkit: the compiler
# and the libraries come as Python wheels (20 seconds, 1.2 GB), into target/cuda-toolkit. One binary serves every GPU of
# compute capability 8.0 and later: it carries PTX, which the driver compiles at the first start and keeps.
#
#     scripts/build-cuda.sh                              # builds target/cuda/release/maskwright
#     scripts/build-cuda.sh -p maskwright-models --bins  # and beside it what scripts/check-gpu.sh runs
#
# What is given goes to `cargo build`. On two cores that others shared it took 24 minutes, 13 of processor time.
#
# Needs cargo, a C++ compiler (gcc at most 15), Python 3 with venv, and the network the first time. Calling it again does what
# is left to do. Variables: CARGO_TARGET_DIR is where it builds (target/cuda); CUDA_COMPUTE_CAP is the oldest GPU to serve (80);
# PYTHON is the Python to take (python3); MASKWRIGHT_CUDA_ALL_KERNELS=1 compiles also the kernels that the binary has no use for.
set -euo pipefail
[[ ${PYTHON-} != [!/]*/* ]] || PYTHON=$PWD/$PYTHON
cd "$(dirname "$0")/.."
root=$PWD
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/cuda}
export CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-80}
python=${PYTHON:-python3}
toolkit=$root/target/cuda-toolkit
wheels="nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
  nvidia-cuda-cccl==13.0.85 nvidia-cuda-nvrtc==13.0.88 nvidia-cublas==13.1.0.3 nvidia-curand==10.4.0.35"

fail() {
  echo "build-cuda.sh: $*" >&2
  exit 1
}
for program in cargo cc c++ ar "$python"; do
  command -v "$program" >/dev/null || fail "$program is not there, and is needed"
done
case $(uname -sm) in
  "Linux x86_64" | "Linux aarch64") ;;
  *) fail "the wheels of the CUDA toolkit are for Linux on x86_64 and aarch64 alone" ;;
esac

# The wheels, and a mark of which they are, written once all of them are there.
if [ "$(cat "$toolkit/wheels" 2>/dev/null)" != "$wheels" ]; then
  echo "build-cuda.sh: fetching the CUDA toolkit into ${toolkit#"$root/"}"
  rm -rf "$toolkit"
  mkdir -p "$toolkit"
  "$python" -m venv "$toolkit/venv" || fail "$python cannot make a virtual environment (Debian has it in python3-venv)"
  # shellcheck disable=SC2086
  "$toolkit/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps $wheels ||
    fail "the wheels of the CUDA toolkit could not be installed"
  echo "$wheels" >"$toolkit/wheels"
fi
cuda=$(echo "$toolkit"/venv/lib/python3*/site-packages/nvidia/cu13)
[ -x "$cuda/bin/nvcc" ] || fail "the wheels hold no nvcc where it is looked for, in $cuda/bin; remove $toolkit and try again"

# The same files, laid out as a toolkit from an installer has them.
home=$toolkit/home
rm -rf "$home"
mkdir -p "$home/bin" "$home/lib64/stubs"
ln -s "$cuda/include" "$cuda/nvvm" "$home/"
ln -s lib64 "$home/lib"
for file in "$cuda"/bin/*; do
  [ "${file##*/}" = nvcc ] || ln -s "$file" "$home/bin/"
done
for file in "$cuda"/lib/*.so.* "$cuda"/lib/*.a; do
  name=${file##*/}
  ln -s "$file" "$home/lib64/$name"
  case $name in *.so.*) ln -sf "$name" "$home/lib64/${name%%.so.*}.so" ;; esac
done

# The driver's library comes with the driver, not with the toolkit. To link against, there is one whose functions all answer
# 34, CUDA_ERROR_STUB_LIBRARY.
grep -oE '\bcu[A-Z][A-Za-z0-9]*(_v[0-9]+)?(_pt[sd][sz])?\b' "$cuda/include/cuda.h" | sort -u |
  awk '{ print "int " $1 "(void) { return 34; }" }' |
  cc -x c -w -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$home/lib64/stubs/libcuda.so" - ||
  fail "the stand-in for the driver's library could not be built"

# Four fifths of the compiler's time would go into kernels for quantised weights and mixtures of experts, which nothing calls
# here and the linker drops: for these, empty objects. Should something come to call them, the linker says that they are missing.
cat >"$home/bin/nvcc" <<NVCC
#!/usr/bin/env bash
object=; last=
for argument in "\$@"; do
  [ "\$last" != -o ] || object=\$argument
  last=\$argument
done
case "\${MASKWRIGHT_CUDA_ALL_KERNELS:-} \$last" in
  " "*/moe_*.cu | " "*/mmq_*.cu | " "*/mmvq_*.cu) exec cc -x c -c -o "\$object" /dev/null ;;
esac
exec "$cuda/bin/nvcc" "\$@"
NVCC
chmod +x "$home/bin/nvcc"
"$home/bin/nvcc" --version >/dev/null || fail "the nvcc of the wheels does not start on this machine"

export CUDA_HOME=$home CUDA_PATH=$home NVCC=$home/bin/nvcc PATH=$home/bin:$PATH
export CUDAFORGE_THREADS=${CUDAFORGE_THREADS:-$(nproc)}
cargo build --locked --release -p maskwright-harness --features cuda "$@" ||
  fail "the build failed; if the linker misses functions named launch_mm or moe_, build again with MASKWRIGHT_CUDA_ALL_KERNELS=1"

binary=$CARGO_TARGET_DIR/release/maskwright
# It starts only where the CUDA libraries are; here with those of the wheels and the stand-in for the driver's.
ln -sf libcuda.so "$home/lib64/stubs/libcuda.so.1"
version=$(LD_LIBRARY_PATH=$home/lib64:$home/lib64/stubs "$binary" --version) || fail "$binary was built but does not start"
cat <<END
$version, with GPU support: $binary
Where it runs, it needs the NVIDIA driver and libcublas.so.13, libcublasLt.so.13 and libcurand.so.10, from a CUDA 13 toolkit or the
wheels nvidia-cublas and nvidia-curand. If the loader does not find them, name their folder; here, for one:
    LD_LIBRARY_PATH=$cuda/lib $binary --version
END
