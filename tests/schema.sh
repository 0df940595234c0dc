#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Records are what docs/record.schema.json says: bash tests/schema.sh BUILD_DIR SOURCE_DIR.  Validated by
# Python's jsonschema where it is installed, else by the few keywords that tests/schema.py knows itself.
# Broken records must be found by it, so that a validator that finds nothing does not pass.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
python=$(command -v python3) || { echo "0 passed, 0 failed, 1 skipped (no python3 here)"; exit 0; }
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-schema-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$source/tests/verdict.bash"

holds() { # holds NAME COMMAND...: it succeeds
    local name=$1
    shift
    verdict "$name" "$("$@" >"$work/said" 2>&1 || { echo "status $?" && head -c 400 "$work/said"; })"
}
valid() { "$python" "$source/tests/schema.py" "$source/docs/record.schema.json" "$@"; }
broken() { ! valid "$@"; }

# Verified runs, skipped ones, an empty matrix, a file that cannot be read, and peers.
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >"$work/empty.mtx"
printf 'garbage' >"$work/garbage.mtx"
library=$build/tests/fakes/libfake_cusparse.so
"$build/heddle" bench gen:grid2d:n=12 set:smoke/band "$work/empty.mtx" "$work/garbage.mtx" \
    --kernel auto,plan,cpu_csr_t \
    --device cpu --type f32,f64 --op N,T --time-limit 0.01 --json "$work/r.jsonl" >/dev/null 2>&1
[ ! -f "$library" ] || HEDDLE_CUSPARSE_LIBRARY=$library "$build/heddle" bench gen:diagonal:n=20 \
    --kernel auto --device emu \
    --peer cusparse --op N,T --no-cold --repetitions 2 --time-limit 0.01 --json - >"$work/p.jsonl" 2>/dev/null
"$build/heddle" bench gen:diagonal:n=20 --kernel auto --peer cusparse --device cpu --no-cold \
    --time-limit 0.01 \
    --json "$work/s.jsonl" >/dev/null 2>&1
for device in cpu:threads=2 emu:wave=64; do
    "$build/heddle" bench --limits --memory 100k --device $device --json "$work/l.jsonl" >/dev/null 2>&1
done
holds 'records of a bench are valid' valid "$work/r.jsonl"
holds 'records of limits are valid' valid "$work/l.jsonl"
[ ! -f "$library" ] || holds 'records of peers are valid, and nothing else is on standard output' valid \
    "$work/p.jsonl"
holds 'records of skipped peers are valid' valid "$work/s.jsonl"
for file in "$source"/bench/results/*.jsonl.xz; do
    xz -dc "$file" | sed -n '1~60p' >"$work/c.jsonl"
    holds "committed records (${file##*/}; each sixtieth) are valid" valid "$work/c.jsonl"
done

run=$(grep -m1 '"record":"run".*"verified":true' "$work/r.jsonl")
break_it() { # break_it NAME SED: a record that was changed so is not valid
    sed "$2" <<<"$run" >"$work/b.jsonl"
    holds "$1" broken "$work/b.jsonl"
}
break_it 'a missing member is found' 's/"nnz":[0-9]*,//'
break_it 'a wrong type is found' 's/"rows":\([0-9]*\)/"rows":"\1"/'
break_it 'a wrong word is found' 's/"op":"[NT]"/"op":"X"/'
break_it 'a negative time is found' 's/"warm_ms":/"warm_ms":-/'
break_it 'a later schema is found' 's/"schema":1/"schema":2/'
break_it 'a run both verified and wrong is found' 's/"wrong":null/"wrong":"row 3"/'
break_it 'a run both skipped and timed is found' 's/"skipped":null/"skipped":"why"/'
run=$(grep -m1 '"limit":"gather"' "$work/l.jsonl")
break_it 'a limit of nothing is found' 's/"figure":[^,]*/"figure":0/'
break_it 'an unknown limit is found' 's/"gather"/"hope"/'
break_it 'a line that is no JSON is found' 's/}$//'

told
