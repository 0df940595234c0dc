#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Several vectors on the command line: bash tests/vectors.sh BUILD_DIR SOURCE_DIR.  Runs with other numbers of
# vectors are other runs: for the records, for a bench that goes on, for compare, and for the report.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-vectors-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$source/tests/verdict.bash"
export NO_COLOR=1 LC_ALL=C.UTF-8
matrix=gen:random:rows=70,cols=50,nnz=400
quick="--device cpu --no-cold --time-limit 0.001 --repetitions 2"
bench() { "$build/heddle" bench "$matrix" $quick "$@" >"$work/out" 2>&1; }
says() { grep -q -- "$1" "$work/out" || cat "$work/out"; } # empty if it does
runs() { grep '"record":"run"' "$work/$1" | grep -c "$2"; }

"$build/heddle" check "$matrix" --device cpu --vectors 1,3,8 --type f32,c64 \
    --kernel auto,plan,cpu_sell,cpu_csr_mm >"$work/out" 2>&1
verdict 'check judges both layouts of each number' "$(for l in '3 vectors by rows' '3 vectors by columns' \
    '8 vectors by columns' ' 0 wrong'; do says "$l"; done)"
"$build/heddle" check "$matrix" --device emu --vectors 5 --layout rows --op T --kernel auto,csr_mm_t --json \
    >"$work/out" 2>&1
verdict 'and tells programs so' \
    "$(says '"vectors":5,"layout":"rows"')$(grep -o '"layout":"columns"' "$work/out")"

bench --vectors 1,4 --layout rows,columns --op N,T --kernel auto --json "$work/r.jsonl"
verdict 'bench verifies every number and layout' "$(says '6 runs: 6 verified')$(says 'N 4 columns')"
verdict 'records hold the number and the layout' \
    "$([ "$(runs r.jsonl '"vectors":1,"layout":null')" -eq 2 ] &&
       [ "$(runs r.jsonl '"vectors":4,"layout":"rows"')" -eq 2 ] &&
       [ "$(runs r.jsonl '"vectors":4,"layout":"columns"')" -eq 2 ] || cat "$work/r.jsonl")"
verdict 'the kernel that ran is the one for several' \
    "$([ "$(runs r.jsonl '"ran":"cpu_csr_mm')" -eq 4 ] || cat "$work/r.jsonl")"
bench --vectors 4,8 --op N --kernel auto --json "$work/r.jsonl"
verdict 'a bench goes on with what is not there yet' "$(says '1 of them were in')"
if command -v python3 >/dev/null; then
    verdict 'records are valid' \
        "$(cd "$source" && python3 tests/schema.py docs/record.schema.json "$work/r.jsonl" 2>&1 >/dev/null)"
else
    skip 'records are valid' 'no python3 here'
fi

bench --vectors 4 --layout rows --op N --kernel auto --json "$work/four.jsonl"
bench --vectors 8 --layout rows --op N --kernel auto --json "$work/eight.jsonl"
"$build/heddle" compare "$work/four.jsonl" "$work/eight.jsonl" >"$work/out" 2>&1
verdict 'compare finds nothing in common of 4 and 8' "$(says 'no run in common')"
"$build/heddle" compare "$work/r.jsonl" "$work/eight.jsonl" --all >"$work/out" 2>&1
verdict 'and finds the run of 8 among others' "$(says '^[^ ]* *f64 *N 8 rows')$(says '1 time in both')"
"$build/heddle" report "$work/eight.jsonl" -o "$work/page.html" >"$work/out" 2>&1
verdict 'a page of several vectors alone has nothing to show' "$([ $? -ne 0 ] || cat "$work/out")"
if "$build/heddle" version | grep -q 'reports: d3'; then
    "$build/heddle" report "$work/r.jsonl" -o "$work/page.html" >"$work/out" 2>&1
    verdict 'and beside one vector they are left out' "$(says '2 runs')"
else
    skip 'beside one vector they are left out' 'no d3 here'
fi

library=$build/tests/fakes/libfake_cusparse.so
HEDDLE_CUSPARSE_LIBRARY=$library "$build/heddle" bench "$matrix" --device emu --no-cold --repetitions 1 \
    --kernel auto --peer cusparse --vectors 3 --op N,T >"$work/out" 2>&1
verdict 'cuSPARSE multiplies several by SpMM' \
    "$(says 'cusparse:mm_alg3 .*yes')$(grep cusparse:csr_alg1 "$work/out")"
bench --vectors 2 --peer mkl:csr
verdict 'a library without is skipped, and says so' "$(says 'mkl:csr multiplies one vector, not several')"
for wrong in '--vectors 0' '--vectors 2,x' '--vectors 1025' '--vectors 2 --layout both' '--layout rows'; do
    bench $wrong
    verdict "$wrong is refused" "$([ $? -eq 2 ] || cat "$work/out")"
done
told
