#!/bin/sh
# SPDX-License-Identifier: MIT
#
# device-gather.sh LIST OUT: puts the files of a ;-separated list together, leaving OUT alone
# if nothing has changed.
set -eu
list=$1 out=$2
: >"$out.new"
tr ';' '\n' <"$list" | while IFS= read -r file || [ -n "$file" ]; do
  [ -z "$file" ] || cat "$file" >>"$out.new"
done
if cmp -s "$out.new" "$out" 2>/dev/null; then rm "$out.new"; else mv "$out.new" "$out"; fi
