#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# C files have the form of .clang-format, once the tree has been formatted (.git-blame-ignore-revs names that commit) and where
# clang-format 14 is; what scripts/format does is stable, and leaves the columns of an essay alone.
set -u
source=$(cd "$2" && pwd)
. "$source/tests/verdict.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$source" || exit 2
{ clang-format-14 --version || clang-format --version | grep 'version 14\.'; } >/dev/null 2>&1 && command -v python3 >/dev/null ||
  { skip "format" "there is no clang-format 14, or no python3"; told; exit; }

if [ -f .git-blame-ignore-revs ]; then
  verdict "all files are formatted" "$(scripts/format --check)"
else
  skip "all files are formatted" "the tree is not formatted yet"
fi
cp src/kernel/csr_naive.c .clang-format "$scratch" && cp src/plan/select.c "$scratch"
scripts/format "$scratch/csr_naive.c" "$scratch/select.c"
verdict "no line is longer than 110 columns" "$(awk 'length($0) > 110 { print FILENAME ":" FNR }' "$scratch"/*.c)"
verdict "labels of an essay stay at the beginning of a line" \
  "$(for label in Computes Source Balance Memory Wins Loses Order; do grep -q "^ \* $label  " "$scratch/csr_naive.c" || echo $label; done)"
verdict "the text is the same" "$(diff <(tr -d ' *\n' <src/kernel/csr_naive.c) <(tr -d ' *\n' <"$scratch/csr_naive.c") >/dev/null || echo "it is not")"
cp "$scratch/csr_naive.c" "$scratch/again.c" && scripts/format "$scratch/again.c"
verdict "what is formatted stays" "$(cmp "$scratch/csr_naive.c" "$scratch/again.c")"
told
