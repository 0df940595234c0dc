#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tests/mutate at work: bash tests/mutate.sh BUILD_DIR SOURCE_DIR.  In the build as it is: a bug of the
# verifier is planted and caught, and the verdict is kept; a kernel's as well.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
. "$source/tests/verdict.bash"
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-mutate-XXXXXX")
trap 'rm -rf "$work"' EXIT

list=$("$source/tests/mutate" --list)
all=$(cut -d' ' -f1 <<<"$list")
verdict "there are thousands of mutants" "$([ "$(wc -l <<<"$all")" -gt 3000 ] || echo few)"
verdict "each has a name of its own" "$(sort <<<"$all" | uniq -d | head -1)"
verdict "every kind of bug is among them" "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from mutation.patterns import PATTERNS
text = sys.stdin.read()
print(*[p[0] for p in PATTERNS if "  " + p[0] + "  " not in text])' "$source/tests" <<<"$list")"
verdict "the tests that should notice exist" "$(python3 -c '
import re, sys
for program, test in re.findall(r"(test_\w+) (\w+)", open(sys.argv[1] + "/mutate").read()):
    if not re.search(rf"TEST\(\w*{test}", open(f"{sys.argv[1]}/{program}.c").read()):
        print(program, test)' "$source/tests")"
verdict "reasons are given for mutants that exist" "$("$source/tests/mutate" --list --only nothing 2>&1)"

tries() { # tries NAME WORDS OPTION...: the second time, from what was kept
    local name=$1 words=$2 out
    shift 2
    out=$("$source/tests/mutate" --build "$build" --kept "$work/kept" "$@" 2>&1)
    verdict "$name" "$([[ $out == *"$words"* ]] || echo "no '$words' in: $out")"
}
one=(--only verify/judge --pattern '== to !=' --seed 1 --count 1)
tries "a bug of the verifier is caught" "caught  " "${one[@]}"
tries "a bug of a kernel is caught" "csr_naive.c" --only kernel/csr_naive.c --pattern '\+= to =' \
    --seed 1 --count 1
tries "a verdict is kept" "host: 1 caught, 0 missed" --only verify/judge --pattern '== to !=' --summary
verdict "the build is left as it was" "$(cd "$build" && ls tests/test_verify >/dev/null || echo gone)"
told
