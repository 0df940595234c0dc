#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# C files have the form of .clang-format, where clang-format 14 is; what scripts/format does is stable, and
# leaves the columns of an essay and of a table alone.
set -u
source=$(cd "$2" && pwd)
. "$source/tests/verdict.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$source" || exit 2
{ clang-format-14 --version || clang-format --version | grep 'version 14\.'; } >/dev/null 2>&1 &&
  command -v python3 >/dev/null ||
  { skip "format" "there is no clang-format 14, or no python3"; told; exit; }

verdict "all files are formatted" "$(scripts/format --check)"

cp .clang-format "$scratch"
wide() { # widens the lines of a comment, so that it has to be filled anew
  local words; words=$(printf 'wide %.0s' {1..16})
  sed "s/^ \* \([A-Z][a-z]*  *\)/ * \1$words/" "$1"
}
wide src/kernel/csr_naive.c >"$scratch/essay.c"
cp "$scratch/essay.c" "$scratch/formatted.c" && scripts/format "$scratch/formatted.c"
verdict "no line is longer than 110 columns" \
  "$(awk 'length($0) > 110 { print FILENAME ":" FNR }' "$scratch/formatted.c")"
verdict "labels of an essay stay at the beginning of a line" \
  "$(for label in Computes Source Balance Memory Wins Loses Order; do
       grep -q "^ \* $label  " "$scratch/formatted.c" || echo $label
     done)"
verdict "the text is the same" \
  "$(diff <(tr -d ' *\n' <"$scratch/essay.c") <(tr -d ' *\n' <"$scratch/formatted.c") >/dev/null ||
    echo "it is not")"
cp "$scratch/formatted.c" "$scratch/again.c" && scripts/format "$scratch/again.c"
verdict "what is formatted stays" "$(cmp "$scratch/formatted.c" "$scratch/again.c")"

sed 's/ LONG/ that is so long that it has to be filled anew, since it ends far beyond where all lines end/' \
  >"$scratch/table.c" <<'C'
/* A table, and behind it text LONG.
 *
 *   simt_fence()      what this thread wrote   is seen
 *   simt_stream(p)    what nobody reads soon   is not kept
 *   simt_readonly(p)  a line of a table LONG   at all
 *
 * Early end.
 * Errors: one line LONG. */
C
cp "$scratch/table.c" "$scratch/laid.c"
verdict "a line of a table that is too long is named, and left to the hand" \
  "$(scripts/format "$scratch/laid.c" | grep -qE 'laid.c:6: longer than 110 columns' ||
    echo "it is not named")"
verdict "a table stays as it is" \
  "$(diff <(grep '^ \*   simt' "$scratch/table.c") <(grep '^ \*   simt' "$scratch/laid.c"))"
verdict "a line that ends early ends a paragraph" \
  "$(grep -qx ' \* Early end\.' "$scratch/laid.c" && grep -q '^ \* Errors: ' "$scratch/laid.c" ||
    cat "$scratch/laid.c")"
told
