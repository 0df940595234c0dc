#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The library as a file: what it links, what it shows, how large it is.
set -u
build=$1 source=$2 passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "$*"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

foreign=$(ldd "$build/libheddle.so" | awk '{print $1}' |
    grep -vE '^(linux-vdso|/lib.*/ld-linux|libc\.|libm\.|libz\.|liblzma\.|libpthread\.)')
[ -z "$foreign" ] && good || bad "the library links more than it may: $foreign"

shown=$(nm -D --defined-only "$build/libheddle.so" | awk '{print $3}' | grep -v '^heddle_')
[ -z "$shown" ] && good || bad "symbols of the shared library besides heddle_*: $shown"
shown=$(nm -g --defined-only "$build/libheddle.a" | awk 'NF == 3 {print $3}' | grep -v '^heddle_')
[ -z "$shown" ] && good || bad "symbols of the static library besides heddle_*: $shown"

declared=$(grep -oE 'heddle_[a-z_]+\(' "$source/include/heddle.h" | tr -d '(' | sort -u)
defined=$(nm -D --defined-only "$build/libheddle.so" | awk '{print $3}' | sort -u)
absent=$(comm -23 <(echo "$declared") <(echo "$defined"))
[ -z "$absent" ] && good || bad "declared but not in the library: $absent"

readelf -d "$build/libheddle.so" | grep -q 'SONAME.*libheddle.so.[0-9]' && good || bad "no soname"
strip -o "$scratch/stripped" "$build/libheddle.so"
! grep -qF "$(realpath "$source")/" "$scratch/stripped" && good || bad "the library tells where it was built"
# With everything in it (CPU, emulator, two architectures of NVIDIA's and PTX, four of AMD's) it stays under 8
# MB.  Deflate, which packs where liblzma is not there, may take half as much again.
set_in_cache() { grep -oP "^$1:[^=]*=\K.*" "$build/CMakeCache.txt"; }
size=$(stat -c %s "$scratch/stripped") most=8000000
if [ "$(set_in_cache CMAKE_BUILD_TYPE)" = Release ] && [ -z "$(set_in_cache HEDDLE_SANITIZE)" ]; then
    grep -qas '^heddle-pack gzip' "$build"/device/*.pack && most=12000000
    [ "$size" -lt $most ] && good || bad "the stripped library has $size bytes, more than $most"
fi
# ROCm's loader looks for kernels in .symtab alone: a binary without it would load, and have none.
if compgen -G "$build/device/*.co" >/dev/null; then
    bare=$(grep -L '\.symtab' "$build"/device/*.co | head -n 1)
    [ -z "$bare" ] && good || bad "$bare has no .symtab"
fi
echo "$passed passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ]
