#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The fuzz targets with what they begin with: bash tests/fuzz.sh BUILD_DIR SOURCE_DIR.  Their corpora and the
# seeds of fuzz/seeds.py, a program each that ends well; searching further is fuzz/run.sh's.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
. "$source/tests/verdict.bash"
seeds=$(mktemp -d "${TMPDIR:-/tmp}/heddle-fuzz-XXXXXX")
trap 'rm -rf "$seeds"' EXIT
if command -v python3 >/dev/null; then
    python3 "$source/fuzz/seeds.py" "$seeds" || exit 2
else
    skip "seeds" "no python3 here"
fi
for target in "$source"/fuzz/fuzz_*.c; do
    name=$(basename "$target" .c)
    mapfile -t inputs < <(find "$source/fuzz/corpus" "$seeds" -path "*/${name#fuzz_}/*" -type f)
    [ ${#inputs[@]} -gt 0 ] || { skip "$name" "no input without python3"; continue; }
    said=$("$build/fuzz/$name" "${inputs[@]}" 2>&1) && [ "$said" = "${#inputs[@]} inputs" ] && said=
    verdict "$name" "$(tail -n 5 <<<"$said")"
done
told
