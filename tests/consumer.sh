#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The installed tree serves a program that lives elsewhere: by pkg-config and by find_package, shared and
# static.
set -u
build=$1 source=$2 passed=0 failed=0 skipped=0
skip() { skipped=$((skipped + 1)) && echo "skipped $1: there is no $2"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
check() { # what, command...
  local what=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)); echo "$what:"; cat "$scratch/log"
  fi
}
check "install" cmake --install "$build" --prefix "$prefix"
libdir=$(dirname "$(find "$prefix" -name libheddle.so | head -1)")
for file in include/heddle.h bin/heddle share/man/man1/heddle.1 share/bash-completion/completions/heddle; do
  check "$file is installed" test -f "$prefix/$file"
done

if command -v pkg-config >/dev/null; then
  pc() { PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config "$@" heddle; }
  shared=$(pc --cflags --libs)
  check "pkg-config, shared" sh -c \
    "cc $source/tests/consumer/main.c $shared -o $scratch/a && LD_LIBRARY_PATH=$libdir $scratch/a"
  libs=$(pc --static --libs | sed "s|-lheddle|$libdir/libheddle.a|")
  check "pkg-config, static" sh -c \
    "cc $source/tests/consumer/main.c $(pc --cflags) $libs -o $scratch/b && $scratch/b"
else
  skip "pkg-config, shared and static" pkg-config
fi
configure="cmake -S $source/tests/consumer -B $scratch/cmake -DCMAKE_PREFIX_PATH=$prefix"
check "find_package" sh -c "$configure && cmake --build $scratch/cmake"
check "the shared program runs" "$scratch/cmake/shared"
check "the static program runs" "$scratch/cmake/static"
if command -v man >/dev/null; then
  check "the man page is clean" sh -c \
    "test -z \"\$(man --warnings -E UTF-8 -l $prefix/share/man/man1/heddle.1 2>&1 >/dev/null)\""
else
  skip "the man page is clean" man
fi
echo "$passed passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ]
