#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The Python package: its wheel installs into a fresh environment, and its own tests pass there.  Skipped
# where there is no virtual environment to be had, or no PyPI.
set -u
build=$1 source=$2
skip() {
    echo "skipped python: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
[ -d "$build" ] && [ -f "$build/heddle" ] || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
python3 -c 'import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
    skip "python3-venv is not here"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
PYTEST_ARGS=-rs "$source/scripts/python" "$build" >"$out" 2>&1
code=$?
[ $code -ne 75 ] ||
    skip "PyPI has no scikit-build-core, cffi, numpy, scipy and pytest for this machine: $(tail -n 1 "$out")"
number() { grep -E '^[0-9].* in [0-9.]+s' "$out" | grep -oE "[0-9]+ $1" | tail -1 | cut -d' ' -f1; }
passed=$(number passed) failed=$(number failed) errors=$(number error) skipped=$(number skipped)
failed=$((${failed:-0} + ${errors:-0}))
[ $code -eq 0 ] || [ $failed -gt 0 ] || failed=1
[ $code -eq 0 ] || cat "$out"
sed -nE 's/^SKIPPED \[[0-9]+\] [^ ]*\/([^ ]*): /skipped \1 /p' "$out"
echo "${passed:-0} passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ] && [ "${passed:-0}" -gt 0 ]
