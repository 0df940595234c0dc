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

foreign=$(ldd "$build/libheddle.so" | awk '{print $1}' | grep -vE '^(linux-vdso|/lib.*/ld-linux|libc\.|libm\.|libz\.|liblzma\.|libpthread\.)')
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
# With everything in it, CPU, emulator, an architecture of NVIDIA's and four of AMD's, it stays under 3 MB.  More of NVIDIA's
# need more, and so does deflate, which packs where liblzma is not there: then each pack is held to what it may take.
set_in_cache() { grep -oP "^$1:[^=]*=\K.*" "$build/CMakeCache.txt"; }
size=$(stat -c %s "$scratch/stripped") packed=0 cubins=0 all_xz=1
if [ "$(set_in_cache CMAKE_BUILD_TYPE)" = Release ] && [ -z "$(set_in_cache HEDDLE_SANITIZE)" ]; then
    for pack in "$build"/device/*.pack; do
        [ -e "$pack" ] || continue
        read -r _ how form _ < <(head -n 1 "$pack")
        bytes=$(stat -c %s "$pack") packed=$((packed + bytes))
        [ "$form" != cubin ] || cubins=$((cubins + 1))
        case $how-$form in xz-co) most=1100000 ;; xz-*) most=600000 ;; gzip-co) most=6400000 all_xz=0 ;; gzip-*) most=1600000 all_xz=0 ;; *) most=10000000 all_xz=0 ;; esac
        [ "$bytes" -lt $most ] && good || bad "$pack has $bytes bytes, more than $most"
    done
    own=$((size - packed))
    [ "$own" -lt 1000000 ] && good || bad "the stripped library has $own bytes without code for GPUs, more than 1 MB"
    [ $all_xz -eq 0 ] || [ $cubins -gt 1 ] || { [ "$size" -lt 3000000 ] && good; } ||
        bad "the stripped library has $size bytes ($own of its own), more than 3 MB"
fi
# ROCm's loader looks for kernels in .symtab alone: a binary without it would load, and have none.
if compgen -G "$build/device/*.co" >/dev/null; then
    bare=$(grep -L '\.symtab' "$build"/device/*.co | head -n 1)
    [ -z "$bare" ] && good || bad "$bare has no .symtab"
fi
echo "$passed passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ]
