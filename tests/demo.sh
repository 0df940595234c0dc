#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `make demo` is one screen: bash tests/demo.sh BUILD_DIR SOURCE_DIR.  What it shows once the build is there
# is scripts/demo, run here with the shortest times; the build itself says one line.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-demo-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$source/tests/verdict.bash"
export NO_COLOR=1 LC_ALL=C.UTF-8
# lines are looked at, not times; on a busy machine threads would wait for each other for minutes
export OMP_NUM_THREADS=1
ln -s "$build/heddle" "$work/heddle" # its records and its page go beside

commands=$(make -n -C "$source" demo 2>&1)
verdict 'the build is quiet' "$(grep -q '>build/demo.log' <<<"$commands" || echo "$commands" | head -c 400)"
verdict 'then there is scripts/demo, and nothing else' \
    "$(sed -n '/demo.log 2>&1/,$p' <<<"$commands" | sed 1d | grep -v '^make' |
        grep -vx 'scripts/demo build' | head -c 300)"

"$source/scripts/demo" "$work" 0.001 >"$work/out" 2>"$work/err"
rc=$?
verdict 'it succeeds' "$([ $rc -eq 0 ] || echo "status $rc: $(tail -c 300 "$work/err")")"
lines=$(cat "$work/out" "$work/err" | wc -l)
verdict 'it fits a screen of 40 lines, with one for the build' "$([ "$lines" -le 39 ] || echo "$lines lines")"
verdict 'and 100 columns' "$(grep -v 'file://' "$work/out" | awk 'length($0) > 100' | head -n 3)"
# nonzeros, auto, plan, the best, its kernel, a speed-up, verified
row='^[a-z0-9_]+ +[0-9,]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +cpu_[a-z_]+ +[0-9.]+ +yes \([0-9]+\)$'
verdict 'each of the 22 matrices has its line' \
    "$([ "$(grep -cE "$row" "$work/out")" -eq 22 ] || cat "$work/out")"
verdict 'every run is in the records' \
    "$([ "$(grep -c '"record":"run"' "$work/demo.jsonl")" -ge 22 ] || echo none)"
verdict 'and in the page, or it is said what that lacks' \
    "$([ -s "$work/demo.html" ] || grep -q 'd3' "$work/err" || cat "$work/err")"
verdict 'a bench that goes on has the same lines' \
    "$("$build/heddle" bench set:smoke/band gen:diagonal:n=50 --device cpu --kernel auto,plan,cpu_csr \
        --no-cold --brief \
        --time-limit 0.001 --json "$work/two.jsonl" >"$work/first"
    "$build/heddle" bench set:smoke/band gen:diagonal:n=50 --device cpu --kernel auto,plan,cpu_csr \
        --no-cold --brief \
        --time-limit 0.001 --json "$work/two.jsonl" | grep -cE ' cpu_csr +[0-9.]+ +yes \(3\)$' | grep -vx 2)"
told
