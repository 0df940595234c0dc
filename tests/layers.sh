#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A folder of src includes only from itself and from folders above it in the list; every source has its SPDX
# line; every allocation goes through base/memory; no file of code is longer than 500 lines, no line of text
# longer than 110 columns, and no folder of src has more than 45 files.
set -u
cd "$2" || exit 2
order="base matrix io gen simt gpu format run convert kernel plan api verify subject bench report terminal
  reproduce cli"
passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "$*"; }

position() { local i=0 f; for f in $order; do [ "$f" = "$1" ] && echo $i; i=$((i + 1)); done; }
wrong=0
while IFS=: read -r file _ line; do
  from=${file#src/} from=${from%%/*}
  to=$(sed -E 's/.*"([a-z]+)\/.*/\1/' <<<"$line")
  [ -n "$(position "$from")" ] || { wrong=1; echo "$file: the folder is not in the list"; continue; }
  { [ -n "$(position "$to")" ] && [ "$(position "$to")" -le "$(position "$from")" ]; } ||
    { wrong=1; echo "$file includes from $to: $line"; }
done < <(grep -rnE '^ *# *include "[a-z]+/' src)
[ $wrong -eq 0 ] && good || bad "a folder includes from below"

# an archive has no git
files() { git ls-files 2>/dev/null | grep . || find . -path './build*' -prune -o -type f -print; }
unlicensed=$(files | grep -E '\.(c|h|def|sh|cmake|py|cpp)$|CMakeLists.txt$|Makefile$' |
  xargs grep -L 'SPDX-License-Identifier: MIT')
[ -z "$unlicensed" ] && good || bad "no SPDX line: $unlicensed"

raw=$(grep -rnE '[^a-z_](malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup)\(' src --include='*.c' |
  grep -v '^src/base/memory.c')
[ -z "$raw" ] && good || bad "allocations that bypass base/memory: $raw"

long=$(files | sed 's|^\./||' | grep -E '^(src|tests|examples|fuzz|petsc|python|scripts)/' |
  grep -E '\.(c|h|cu|cpp|sh|py)$' | xargs wc -l |
       awk '$1 > 500 && $2 != "total" { print $2 ": " $1 " lines" }')
[ -z "$long" ] && good || bad "longer than 500 lines: $long"

# Not counted: data and what programs write; rows of tables, which are one line each; links.
data='\.(svg|jsonl|xz|json|ipynb|html|accepted)$|^docs/reproduce/|^fuzz/corpus/|^tests/petsc/programs$'
rows='^[^:]*\.md:[0-9]+: *\||^[^:]*\.def:[0-9]+:[A-Z]+\('
export LC_ALL=C.UTF-8 # columns are characters
wide=$(files | sed 's|^\./||' | grep -vE "$data" | xargs grep -InHE '^.{111}' | grep -vE "$rows" |
  sed -E 's|https?://[^ ]*||; s/\]\([^)]*\)/]/g' | grep -oE '^[^:]*:[0-9]+:.{111}' | cut -d: -f1,2)
[ -z "$wide" ] && good || bad "longer than 110 columns: $wide"
full=$(find src -type f | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 45 { print $2 ": " $1 " files" }')
[ -z "$full" ] && good || bad "too many files in a folder: $full"
echo "$passed passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ]
