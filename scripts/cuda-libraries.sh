# Read by scripts that start `maskwright`, which is on the PATH: lets the loader find the CUDA libraries where it does not by itself.
# shellcheck shell=bash
# Folders that may have libcublas.so.13 and libcurand.so.10, behind those that the loader knows.
if ! maskwright --version >/dev/null 2>&1; then
  folders=(/usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib /usr/local/nvidia/lib64 /opt/cuda/lib64)
  while IFS= read -r package; do
    [ -z "$package" ] || folders+=("$package"/nvidia/cu13/lib "$package"/nvidia/*/lib)
  done < <(python3 -c 'import site, sys; print(*site.getsitepackages(), site.getusersitepackages(), *sys.path, sep="\n")' 2>/dev/null)
  for folder in "${folders[@]}"; do
    if [ -d "$folder" ]; then
      LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
    fi
  done
  export LD_LIBRARY_PATH
fi
