#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One entry of a row of 200,000 is left out (by a library that FAKE_DROP tells to): f32 hides it within
# rounding, the command finds it: bash tests/exact.sh BUILD_DIR SOURCE_DIR.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
export PATH="$build:$PATH" NO_COLOR=1 LC_ALL=C HEDDLE_MKL_LIBRARY="$build/tests/fakes/libfake_cpu_sparse.so"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-exact-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$source/tests/verdict.bash"

matrix=gen:dense:rows=3,cols=200000
tries() { # tries NAME STATUS WORDS COMMAND...
    local name=$1 status=$2 words=$3 problem=''
    shift 3
    "$@" >"$work/out" 2>&1
    local rc=$?
    [ $rc -eq "$status" ] || problem="exit status $rc"
    grep -qF -- "$words" "$work/out" || problem="$problem no '$words' in: $(head -c 600 "$work/out")"
    verdict "$name" "$problem"
}

check=(heddle check $matrix --device cpu --kernel mkl:csr --type f32)
bench=(heddle bench $matrix --device cpu --peer mkl:csr --kernel cpu_csr --type f32 --op N,T
    --time-limit 0.001 --json)
tries "check passes what is right" 0 "0 wrong" "${check[@]}"
tries "check finds an entry that is left out of A x" 1 \
    "WRONG: mkl:csr f32 N: alpha -1, beta 2, integers: row 1 is" \
      env FAKE_DROP=333333 "${check[@]}" --op N
tries "check finds an entry that is left out of the transpose" 1 "WRONG: mkl:csr f32 T" env FAKE_DROP=333333 \
    "${check[@]}" --op T
tries "bench passes what is right" 0 "" "${bench[@]}" "$work/right.jsonl"
tries "bench finds it, too" 1 "" env FAKE_DROP=333333 "${bench[@]}" "$work/wrong.jsonl"
verdict "bench records nothing wrong of what is right" \
    "$(grep -c '"verified":false' "$work/right.jsonl" | grep -v '^0$')"
verdict "bench records the library's runs as wrong, and only them" \
        "$(grep '"record":"run"' "$work/wrong.jsonl" |
            grep -E '"verified":(false.*"kernel":"cpu_csr"|true.*"mkl)')"
verdict "bench says which row" "$(grep '"kernel":"mkl' "$work/wrong.jsonl" | grep '"op":"N"' |
    grep -vE '"wrong":"row 1 is')"
told
