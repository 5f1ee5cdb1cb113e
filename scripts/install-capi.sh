#!/usr/bin/env bash
# Builds the libraries for C, optimised, and puts them with their header into PREFIX: include/maskwright.h, lib/libmaskwright_c.so (.dylib)
# and .a, lib/pkgconfig/maskwright.pc.
#
#   scripts/install-capi.sh PREFIX
set -euo pipefail
if [ $# -ne 1 ] || [ -z "$1" ]; then
    echo "usage: scripts/install-capi.sh PREFIX" >&2
    exit 2
fi
mkdir -p "$1/include" "$1/lib/pkgconfig"
prefix=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

# The folder that the libraries come into, whatever is configured.
unset CARGO_BUILD_TARGET
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

# One kind at a time, and not the one for Rust programs: only so is a library optimised as a whole.
for kind in cdylib staticlib; do
    cargo rustc --locked --release --package maskwright-capi --lib --crate-type "$kind"
done
built=$CARGO_TARGET_DIR/release
cp capi/include/maskwright.h "$prefix/include"
cp "$built/libmaskwright_c.a" "$prefix/lib"
found=
for library in "$built"/libmaskwright_c.so "$built"/libmaskwright_c.dylib; do
    if [ -f "$library" ]; then
        # Programs that run keep the file that they have.
        install -m 755 "$library" "$prefix/lib"
        found=$library
    fi
done
[ -n "$found" ] || { echo "$0: there is no shared library in $built" >&2; exit 1; }
version=$(cargo pkgid --package maskwright-capi | sed 's/.*[#@]//')
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" capi/maskwright.pc.in >"$prefix/lib/pkgconfig/maskwright.pc"
echo "installed into $prefix"
