#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it into a fresh virtual environment, and runs the package's tests and
# the checks of its types there.
#
#   scripts/check-python.sh [--if-possible]
#
# Needs CPython 3.11 or later with venv and pip, and wheels of maturin, mypy, numpy, pyright and pytest from pip's registry. With --if-possible,
# a machine that lacks one of them is no failure: the script says `skipped:` with the reason, and ends with 0.
set -euo pipefail
[[ ${PYTHON-} != [!/]*/* ]] || PYTHON=$PWD/$PYTHON
cd "$(dirname "$0")/.."

place=$PWD/target/check-python
sources=$PWD/python
missing() {
    echo "skipped: the Python package is not checked, because $1"
    [ "${optional:-}" ] && exit 0
    exit 1
}
[ "${1:-}" = --if-possible ] && optional=yes

python=${PYTHON:-python3}
command -v "$python" >/dev/null || missing "there is no $python"
# The module uses Python's stable interface, which builds without the global lock do not have.
usable='import sys, sysconfig
sys.exit(sys.version_info < (3, 11) or sys.implementation.name != "cpython" or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))'
"$python" -c "$usable" 2>/dev/null || missing "$python is not CPython 3.11 or later with a global lock"
rm -rf "$place"
mkdir -p "$place"
"$python" -m venv "$place/venv" >/dev/null 2>&1 || missing "$python -m venv fails (Debian: apt-get install python3-venv)"
# Wheels only, so that nothing else is compiled here, and few attempts, so that a machine without network is not waited for.
# Another mypy or pyright may find other faults: their versions are fixed.
pip=("$place/venv/bin/python" -m pip --quiet --disable-pip-version-check install)
"${pip[@]}" --only-binary :all: --retries 1 --timeout 30 'maturin>=1.9,<2' mypy==2.4.1 'numpy>=2,<3' 'pyright[nodejs]==1.1.414' 'pytest>=8,<10' >"$place/pip.log" 2>&1 ||
    missing "pip cannot install maturin, mypy, numpy, pyright and pytest: $(tail -n 1 "$place/pip.log")"

# The profile of the workspace's tests, which have built the program and most dependencies already. The wheel is for this machine alone.
PATH=$place/venv/bin:$PATH "$place/venv/bin/python" -m pip --quiet --disable-pip-version-check wheel ./python --wheel-dir "$place/wheels" \
    --no-index --no-deps --no-build-isolation --config-settings 'build-args=--profile release --locked'
"${pip[@]}" --no-index --no-deps "$place"/wheels/maskwright-*.whl

# Away from the sources, so that the installed package is the one that is found.
cp -r python/tests python/pyproject.toml "$place"
cd "$place"
venv/bin/python -m pytest --quiet tests
# The command line comes with the wheel, and is the very program: with the model in it.
venv/bin/maskwright bench --limit 1 --frameworks maskwright --out "$place/run" >/dev/null
venv/bin/python -m mypy -p maskwright
venv/bin/python -m mypy tests/*.py
venv/bin/python -m mypy.stubtest maskwright._native --mypy-config-file pyproject.toml
# The sources, with the stubs of the module beside them.
venv/bin/pyright --project "$sources" --pythonpath venv/bin/python
