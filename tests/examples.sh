#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The examples are built as a user's project is, from the installed tree, by their Makefile and by their
# CMakeLists.txt, without a warning; they run on the CPU and on the emulator; and their results have the
# properties that they should have.  In a build with sanitizers they are built with them too, so that what
# they do to memory is watched.  HEDDLE_TEST_DEVICES ("cuda:0") runs them there too, and cg_graph;
# HEDDLE_SLOW_TESTS makes the picture of the README again.
set -u
build=$(cd "$1" && pwd) passed=0 failed=0 scratch=$(mktemp -d)
cd "$2" || exit 2
trap 'rm -rf "$scratch"' EXIT
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "$*"; }
try() { # what it shows, command...
  local name=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then good; else bad "$name:" && cat "$scratch/log"; fi
}

# ---------------------------------------------------------------- built as by a user
prefix=$scratch/prefix sanitize=$(sed -n 's/^HEDDLE_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
try "install" cmake --install "$build" --prefix "$prefix"
libdir=$(dirname "$(find "$prefix" -name libheddle.so | head -1)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
source=$PWD
cp -r examples "$scratch/examples"
cd "$scratch/examples" || exit 2
rm -f cg bicg pagerank tomography cg_graph tomography.png
flags="-O2 -g -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
[ -z "$sanitize" ] || flags="$flags -fsanitize=$sanitize -fno-sanitize-recover=all"
pkg_config="pkg-config --define-variable=prefix=$prefix"
if command -v pkg-config >/dev/null; then
  try "make, by pkg-config" make CFLAGS="$flags" PKG_CONFIG="$pkg_config"
else # without it, as it would say
  try "make, without pkg-config" make CFLAGS="$flags" HEDDLE_CFLAGS="-I$prefix/include" \
    HEDDLE_LIBS="-L$libdir -lheddle" \
    LIBDIR="$libdir"
fi
if [ -z "$sanitize" ]; then
  try "cmake, by find_package" sh -c \
    "cmake -S . -B cmake -DCMAKE_PREFIX_PATH='$prefix' && cmake --build cmake"
  try "what cmake made runs" cmake/cg cpu gen:grid2d:n=10
fi

# ---------------------------------------------------------------- run, and right
ends() { # status, command...: its output is left in $out
  local want=$1
  shift
  out=$("$@" 2>&1)
  local status=$?
  [ $status -eq "$want" ] && good || bad "$* ended with $status, not $want: $out"
}
number() {
  awk -v key="$1" '$1 == key { print $2; found = 1; exit } END { if (!found) print "none" }' <<<"$out"
}
holds() { # what is claimed, a condition of awk on numbers of the output: holds "words" residual '< 1e-9'
  local value
  value=$(number "$2")
  [ "$value" != none ] && awk -v v="$value" "BEGIN { exit !(v + 0 == v && v $3) }" && good ||
    bad "$1: $2 is $value, not $3"
}

# A web of eleven pages, ten of which link to the first, which links to none.  With d = 0.85 it is solved by
# hand: the others have 1 / (11 + 8.5) each, the first 9.5 times that.
{
  echo "%%MatrixMarket matrix coordinate real general"
  echo "11 11 10"
  for i in 2 3 4 5 6 7 8 9 10 11; do echo "$i 1 0.25"; done # a value that must not matter
} >star.mtx

solves() { # device, matrix of cg, points of bicg, graph, side and steps of the image
  ends 0 ./cg "$1" "$2"
  holds "cg on $1 solves" residual "< 1e-9"
  holds "cg on $1 finds the solution that was put in" error "< 1e-8"
  holds "cg on $1 takes steps" steps "> 5"
  ends 0 ./bicg "$1" "$3"
  holds "bicg on $1 solves" residual "< 1e-9"
  holds "bicg on $1 finds the solution that was put in" error "< 1e-8"
  ends 0 ./pagerank "$1" "$4"
  holds "ranks on $1 are probabilities" sum "> 1 - 1e-9 && v < 1 + 1e-9"
  holds "ranks on $1 stay" moved "< 1e-9"
  ends 0 ./pagerank "$1" star.mtx
  grep -q "page 1 rank 0.487179" <<<"$out" && grep -q "page 2 rank 0.051282" <<<"$out" && good ||
    bad "pagerank $1 star.mtx: $out"
  ends 0 ./tomography "$1" "$5" "$6" "$1.png"
  holds "on $1 SIRT is nearer than back-projection" sirt "< 0.7 * $(number back-projection)"
  awk '$1 == "step" { if (seen && ($4 >= d || $6 >= e)) bad = 1; d = $4; e = $6; seen++ }
       END { exit bad || seen < 2 }' <<<"$out" && good || bad "on $1 differences and errors do not fall: $out"
}
solves cpu:threads=2 gen:grid3d:n=20 40 gen:rmat:n=4096 48 100
solves emu gen:grid3d:n=8 10 gen:rmat:n=512 16 20
for device in ${HEDDLE_TEST_DEVICES:-}; do
  solves "$device" gen:grid3d:n=60 100 gen:rmat:n=65536 128 100
done

# The programs can fail: too few steps, and input that they cannot take.
ends 1 ./cg cpu gen:grid3d:n=20 3
ends 1 ./bicg cpu 40 3
ends 1 ./tomography cpu 48 1 one.png
ends 2 ./cg cpu gen:lsq:n=400
[[ $out == *"need a square matrix"* ]] && good || bad "cg does not say what it needs: $out"
ends 2 ./pagerank cpu nowhere.mtx
[[ $out == *"HEDDLE_FILE_ERROR: nowhere.mtx"* ]] && good || bad "a missing file is not named: $out"
ends 1 ./tomography cpu 16 20 nowhere/picture.png

# ---------------------------------------------------------------- pictures
if command -v python3 >/dev/null; then
  cat >picture.py <<'PY'
"""picture.py WIDTH HEIGHT FILE [OTHER]: the PNG is sound and of that size; OTHER's differs by little."""
import struct, sys, zlib
def grey(path):
    data, at, parts = open(path, "rb").read(), 8, {}
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        checksum, = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert checksum == zlib.crc32(data[at + 4:at + 8 + length]), name
        parts[name] = data[at + 8:at + 8 + length]
        at += 12 + length
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    pixels = zlib.decompress(parts[b"IDAT"])
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"] and len(pixels) == height * (width + 1)
    assert (width, height) == (int(sys.argv[1]), int(sys.argv[2])), (width, height)
    return [p for i, p in enumerate(pixels) if i % (width + 1)]
pictures = [grey(path) for path in sys.argv[3:]]
assert len(set(pictures[0])) > 20, "there is nothing to see"
if len(pictures) > 1: # rounding differs from one processor to the next
    assert max(abs(a - b) for a, b in zip(*pictures)) <= 2, "the pictures differ"
PY
  try "the picture is a PNG" python3 picture.py 152 48 cpu:threads=2.png
  try "the emulator's, too" python3 picture.py 56 16 emu.png
  try "that of the README is" python3 picture.py 392 128 "$source/examples/tomography.png"
  if [ -n "${HEDDLE_SLOW_TESTS:-}" ] && [ -z "$sanitize" ]; then
    ends 0 ./tomography cpu
    try "the picture of the README is what the program makes" \
      python3 picture.py 392 128 "$source/examples/tomography.png" tomography.png
  fi
fi
[ "$(wc -c <"$source/examples/tomography.png")" -lt 100000 ] && good || bad "the picture is not below 100 KB"

# ---------------------------------------------------------------- CUDA
if [ -z "$sanitize" ] && command -v nvcc >/dev/null; then
  try "make cg_graph" make cg_graph PKG_CONFIG="$pkg_config" \
    NVCCFLAGS="-O2 -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror"
  try "bench/cg_peers.cu" nvcc -std=c++17 -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror \
    -I"$prefix/include" -c -o cg_peers.o "$source/bench/cg_peers.cu"
  for device in ${HEDDLE_TEST_DEVICES:-}; do
    [[ $device == cuda* ]] || continue
    ends 0 ./cg_graph "$device" gen:grid3d:n=60
    holds "cg_graph solves" residual "< 1e-9"
    holds "cg_graph leaves the host alone" host "< 2"
    ends 1 ./cg_graph "$device" gen:grid3d:n=60 20
  done
fi
echo "$passed passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ]
