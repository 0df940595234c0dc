#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# One name has one meaning, and the field's words are used: tests/words.py, which notices a name that is
# defined twice, a line of words.accepted that is no longer needed, and a retired word.
set -u
source=$(cd "$2" && pwd)
. "$source/tests/verdict.bash"
command -v python3 >/dev/null || { skip "words" "there is no python3"; told; exit; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

verdict "one name has one meaning" "$(python3 "$source/tests/words.py" "$source")"
mkdir -p "$scratch/src"
{ printf 'struct pair {\n    int a;\n};\nint both(void)\n{\n    return 1;\n}\n'
  printf 'static int each(void)\n{\n    return 1;\n}\n'
} | tee "$scratch/src/a.c" >"$scratch/src/b.c"
echo '/* the second-level cache */' >>"$scratch/src/a.c"
printf 'struct once # why\nstatic: alone # why\n' >"$scratch/accepted"
said=$(python3 "$source/tests/words.py" "$scratch" "$scratch/accepted")
for words in 'struct pair is defined in' 'both is defined in' 'struct once is defined once' \
  'static: each is defined in' 'static: alone is defined once' "'second-level cache' is L2"; do
  verdict "noticed: $words" "$(grep -qF "$words" <<<"$said" || echo "said: $said")"
done
told
