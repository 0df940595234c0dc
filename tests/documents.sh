#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What documents name is there: links, files, commands with their options, targets of make, names of the API;
# their statements in C compile; and every record is cited.  A document that names something else is noticed.
set -u
build=$(cd "$1" && pwd) source=$(cd "$2" && pwd)
. "$source/tests/verdict.bash"
command -v python3 >/dev/null || { skip "documents" "there is no python3"; told; exit; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

verdict "what documents name is there" \
  "$(python3 "$source/tests/documents.py" "$build" "$source" 2>"$scratch/count")"
verdict "they name much" "$([ "$(grep -o '^[0-9]*' "$scratch/count")" -gt 200 ] || cat "$scratch/count")"
verdict "performance.md has at most 200 lines" \
  "$([ "$(wc -l <"$source/docs/performance.md")" -le 200 ] || echo "it has more")"

# A tree with one mistake of each kind.
mkdir -p "$scratch/tree/docs" "$scratch/tree/bench/results" && cp "$source/Makefile" "$scratch/tree/"
touch "$scratch/tree/bench/results/uncited.jsonl.xz"
{ printf '# A title\n[a](b.md) [b](#another) `src/nothing.c`\n\n'
  printf '```\nheddle info --nothing\nheddle nothing\nmake nothing\n```\n'
} >"$scratch/tree/docs/a.md"
printf '`heddle_nothing`\n\n```c\nheddle_close(1.0, 2);\n```\n' >"$scratch/tree/README.md"
cp -R "$source/include" "$scratch/tree/"
said=$(python3 "$source/tests/documents.py" "$build" "$scratch/tree" 2>/dev/null)
for words in 'b.md leads nowhere' 'no such heading' 'no src/nothing.c' 'no option --nothing' \
  "no command 'heddle nothing'" "no target 'make nothing'" 'no document cites it' \
  'nothing is called heddle_nothing' 'in C do not compile: '; do
  verdict "noticed: $words" "$(grep -qF "$words" <<<"$said" || echo "said: $said")"
done
told
