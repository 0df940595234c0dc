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

foreign=$(ldd "$build/libheddle.so" | awk '{print $1}' | grep -vE '^(linux-vdso|/lib.*/ld-linux|libc\.|libm\.|libgomp\.|libz\.|liblzma\.|libpthread\.)')
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
# Code for GPUs grows with their architectures: it is counted apart, 3 MB for each of NVIDIA's and 1 MB for each of AMD's.
size=$(stat -c %s "$scratch/stripped")
embedded() { find "$build/device" -maxdepth 1 -name "$1" -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }
own=$((size - $(embedded '*.packed')))
[ "$own" -lt 3000000 ] && good || bad "the stripped library has $own bytes without code for GPUs, more than 3 MB"
nvidia=$(($(embedded '*.fatbin.packed') + $(embedded '*.ptx.packed')))
archs=$(grep -oP '^HEDDLE_CUDA_ARCH:[^=]*=\K.*' "$build/CMakeCache.txt" | tr ';' '\n' | wc -l)
[ "$nvidia" -le $((archs * 3000000)) ] && good || bad "code for NVIDIA GPUs takes $nvidia bytes, more than 3 MB for each of $archs"
for target in gfx906 gfx90a gfx942 gfx1100; do
    amd=$(embedded "*.$target.co.packed")
    [ "$amd" -lt 1000000 ] && good || bad "code for $target takes $amd bytes, more than 1 MB"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
