#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The public header compiles alone, without a warning, as C11, C17 and C++17.
set -u
source=$2 passed=0 failed=0 skipped=0
flags="-fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I$source/include"
try() { # language, standard, compiler
  command -v "$3" >/dev/null ||
    { skipped=$((skipped + 1)) && echo "skipped $1 as $2: there is no $3" && return; }
  if echo '#include <heddle.h>' | "$3" -x "$1" -std="$2" $flags -; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}
for compiler in cc clang; do
  try c c11 $compiler
  try c c17 $compiler
done
for compiler in c++ clang++; do
  try c++ c++17 $compiler
done
echo "$passed passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ]
