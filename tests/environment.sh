#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A program that runs with more rights than its caller has (setuid) opens no library and loads no file that
# the caller's environment names.
set -u
build=$1 source=$2
. "$source/tests/verdict.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"

verdict "variables are read by base/environment alone" \
    "$(grep -rnE '[^_a-z]getenv\(' "$source/src" --include='*.c' --include='*.h')"

# The copy belongs to nobody: run by root it has other rights than its caller, which is all that matters.
export HEDDLE_CUDA_LIBRARY=$build/tests/fakes/libfake_cuda.so
devices() { "$1" devices 2>&1; }
verdict "a program with its caller's rights opens the library that is named" \
    "$(devices "$build/heddle" | grep -q 'Fake H200' || echo "no such device")"
copy=$scratch/heddle
if [ "$(id -u)" -eq 0 ] && cp "$build/heddle" "$copy" && chown nobody "$copy" && chmod 4755 "$copy" &&
    "$copy" version >/dev/null 2>&1 && ! findmnt -T "$scratch" -no OPTIONS 2>/dev/null | grep -qw nosuid; then
    verdict "a setuid program does not" "$(devices "$scratch/heddle" | grep 'Fake H200')"
    verdict "a setuid program makes as many threads as there are processors, whatever it is told" \
        "$(OMP_NUM_THREADS=7 HEDDLE_CUDA_LIBRARY= "$scratch/heddle" devices | grep -E 'emu .*\b7\b')"
else
    echo "setuid programs cannot be tried here: root and a file system that has them are needed"
fi
told
