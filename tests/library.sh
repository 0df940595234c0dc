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
size=$(stat -c %s "$scratch/stripped")
[ "$size" -lt 3000000 ] && good || bad "the stripped library has $size bytes, more than 3 MB"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
