#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Eigen and SciPy as peers: bash tests/peers_cpu.sh BUILD_DIR SOURCE_DIR.  Verified where they are there, told
# in one line where not.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-peers-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$source/tests/verdict.bash"
export NO_COLOR=1 LC_ALL=C.UTF-8 OMP_NUM_THREADS=1
"$build/heddle" bench gen:random:rows=70,cols=50,nnz=400 --device cpu --kernel auto --peer eigen,scipy \
    --op N,T --type f32,f64 --no-cold \
    --time-limit 0.001 --json "$work/r.jsonl" >"$work/out" 2>&1
verdict 'the bench runs, and nothing is wrong' "$(grep -q ', 0 wrong' "$work/out" || tail -n 5 "$work/out")"
verified() { grep "\"kernel\":\"$1" "$work/r.jsonl" | grep -c '"verified":true'; }
if [ -f "$build/libheddle_eigen.so" ]; then
    verdict 'eigen computes N and T, and T from a copy, in both types' \
        "$([ "$(verified eigen:)" -eq 6 ] || grep eigen "$work/out")"
    verdict 'its version is told' "$(grep -q '"peer":"eigen [3-9]\.' "$work/r.jsonl" || echo no)"
else
    verdict 'without eigen it is said what is missing' \
        "$(grep -q 'skipped: eigen: libheddle_eigen.so cannot be opened' "$work/out" || cat "$work/out")"
fi
# Which Python is opened is the loader's choice: what it says decides, unless Debian's own has SciPy and its
# library.
needed=$(/usr/bin/python3 -c 'import ctypes, scipy.sparse, sys
ctypes.CDLL("libpython%d.%d.so.1.0" % sys.version_info[:2])
print(1)' 2>/dev/null)
if [ -n "$needed" ] || ! grep -q 'skipped: scipy' "$work/out"; then
    verdict 'scipy computes N and T in both types' \
        "$([ "$(verified scipy:)" -eq 4 ] || grep scipy "$work/out")"
    verdict 'its version is told' "$(grep -q '"peer":"scipy [0-9]' "$work/r.jsonl" || echo no)"
    verdict 'and it reads the bytes of CSR' \
        "$(grep '"kernel":"scipy:csr"' "$work/r.jsonl" | grep -q '"own_bytes":[0-9]' || echo no)"
else
    verdict 'without scipy it is said what is missing' \
        "$(grep -q 'skipped: scipy: ' "$work/out" || cat "$work/out")"
fi
HEDDLE_SCIPY_LIBRARY='' "$build/heddle" bench gen:diagonal:n=5 --device cpu --kernel auto --peer scipy \
    --no-cold --time-limit 0.001 >"$work/out" 2>&1
verdict 'a library that is named away is skipped, with the variable' \
    "$(grep -q 'skipped: scipy: .*cannot be opened' "$work/out" || cat "$work/out")"
told
