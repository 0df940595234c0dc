#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the page of `heddle report` computes, without a browser: tests/page/logic.js runs the script of a page
# that the command has written, over records that are made here.  What it looks like and how it is used is
# tested in Chromium (tests/browser).
set -u
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd) scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
node=$(command -v node || command -v nodejs) ||
  { echo "no node is here: scripts/setup check installs it"; echo "0 passed, 0 failed"; exit; }
"$node" "$here/page/logic.js" records "$scratch" || { echo "0 passed, 1 failed"; exit 1; }
if ! "$build/heddle" report "$scratch/first.jsonl" "$scratch/second.jsonl" \
  -o "$scratch/page.html" >"$scratch/log" 2>&1; then
  grep -q 'built without the drawing library' "$scratch/log" &&
    { cat "$scratch/log"; echo "0 passed, 0 failed"; exit; }
  cat "$scratch/log"
  echo "0 passed, 1 failed"
  exit 1
fi
"$node" "$here/page/logic.js" test "$scratch/page.html"
