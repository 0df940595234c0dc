#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The build of device code: what the compilers say becomes rows, a spill that is not accepted ends the build
# of tests and is told in others, and (where clang or nvcc is there) the PTX and the code objects are what
# they claim to be.
set -u
build=$1 source=$(cd "$2" && pwd) passed=0 failed=0 skipped=0
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "$*"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compile() { sh "$source/cmake/device-compile.sh" "$@"; }
expect() { # file, text, what it shows
  grep -qF -- "$2" "$1" && good || { bad "$3: no '$2' in:"; cat "$1"; }
}

# A compiler that makes PTX, and says what ptxas would say of it; SPILL is the number of bytes.
cat >"$scratch/nvcc" <<'FAKE'
#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in -o) out=$2; shift ;; -arch=*) arch=${1#-arch=} ;; --keep-dir) steps=$2; shift ;; esac
  shift
done
[ -z "${BROKEN:-}" ] || { echo "page.c(7): error: identifier \"weave\" is undefined"; exit 2; }
echo 'page.c(3): warning: comparison is always false' >&2
{ printf '//\n.visible .entry weave__f64_i32(\n\t.reg .b64 \t%%rd<9>;\n'
  printf '\tred.global.add.f64 [%%rd7], %%fd1;\t// adds\n'
  printf '\tadd.s64 %%rd8, %%rd7, %%tid1;\n.visible .entry weave_fix__f64_i32(\n'
  printf '\tatom.shared.add.f32 %%f1, [%%rd1], %%f2;\n'
} >"$steps/page.ptx"
echo binary >"$out"
cat <<SAYS >&2
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'weave__f64_i32' for '$arch'
ptxas info    : Function properties for weave__f64_i32
    ${FRAME:-0} bytes stack frame, ${SPILL:-0} bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem, 560 bytes cmem[0]
ptxas info    : Compiling entry function 'weave_fix__f64_i32' for '$arch'
ptxas info    : Function properties for weave_fix__f64_i32
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
SAYS
FAKE
chmod +x "$scratch/nvcc"
out=$scratch/weave__f64_i32.sm_90.cubin ptx=$scratch/weave__f64_i32.compute_90.ptx
: >"$scratch/accepted"
nvcc_fake() {
  compile nvcc weave f64_i32 sm_90 "${SPILLS:-error}" "$scratch/accepted" "$out" "$scratch/nvcc" \
    >"$scratch/said" 2>&1
}

nvcc_fake && good || { bad "a page without spills does not build:"; cat "$scratch/said"; }
expect "$out.resources" '{"weave", "f64_i32", "sm_90", 40, 2048, 0, "hardware"},' \
  "a kernel with atomics in global memory"
expect "$out.resources" '{"weave_fix", "f64_i32", "sm_90", 8, 0, 0, "loop"},' \
  "a kernel with atomics in shared memory"
[ "$(wc -l <"$out.resources")" -eq 2 ] && good || bad "not one row per kernel"
expect "$scratch/said" 'comparison is always false' "a warning of the compiler"
[ "$(wc -l <"$scratch/said")" -eq 1 ] && good ||
  { bad "a build says more than its warnings:"; cat "$scratch/said"; }

# PTX beside it, as the compiler made it.
expect "$ptx" 'red.global.add.f64 [%rd7], %fd1;' "the PTX beside a cubin"
[ ! -e "$out.steps" ] && good || bad "the compiler's other steps stay"

FRAME=32 nvcc_fake && bad "an array in local memory passes" || good
expect "$scratch/said" 'spills 32 bytes a thread' "an array in local memory"
SPILL=16 nvcc_fake && bad "a spill passes" || good
expect "$scratch/said" 'weave for f64_i32 spills 16 bytes a thread on sm_90' "the refusal"
[ ! -e "$out" ] && [ ! -e "$out.resources" ] && good || bad "a refused binary stays"
SPILL=16 SPILLS=warn nvcc_fake && [ -e "$out" ] && good || bad "a spill ends a user's build"
expect "$scratch/said" 'weave for f64_i32 spills 16 bytes a thread on sm_90' "the warning"
echo 'weave f64_* sm_80 # another' >"$scratch/accepted"
SPILL=16 nvcc_fake && bad "an accepted spill of one architecture covers another" || good
echo '* f64_i32 sm_* # all of it' >>"$scratch/accepted"
SPILL=16 nvcc_fake && good || bad "an accepted spill ends the build"
expect "$out.resources" '"sm_90", 40, 2048, 16,' "the accepted spill"
BROKEN=1 nvcc_fake && bad "an error of the compiler passes" || good
expect "$scratch/said" 'identifier "weave" is undefined' "the compiler's error"
[ ! -e "$out" ] && good || bad "a binary of a failed compilation stays"

nvcc_fake
# A pack: the first line, then the directory and the binaries, as they are and compressed.
printf '%s;%s' "$out" "$ptx" >"$scratch/list"
pack() { sh "$source/cmake/device-pack.sh" "$1" "$scratch/list" "$scratch/a.pack"; }
pack none && good || bad "nothing is packed"
expect "$scratch/a.pack" "heddle-pack none $(tail -n +2 "$scratch/a.pack" | wc -c) " \
  "the first line of a pack"
expect "$scratch/a.pack" "$(cksum <"$out") weave__f64_i32" "the directory of a pack"
for how in gzip xz; do
  command -v $how >/dev/null ||
    { skipped=$((skipped + 1)) && echo "skipped: $how packs: there is no $how" && continue; }
  tail -n +2 "$scratch/a.pack" >"$scratch/raw"
  pack "$(command -v $how)" && tail -n +2 "$scratch/a.pack" | $how -dc | cmp -s - "$scratch/raw" && good ||
    bad "$how packs something else"
  pack none
done
pack lz4 2>"$scratch/said" && bad "a pack that no one can read" || good
expect "$scratch/said" "cannot pack with 'lz4'" "the refusal"

# What this build has made.
for file in "$build"/device/*__*.ptx; do
  case $file in *'*'* | *.compute_*) continue ;; esac
  grep -q '^\.version 7\.0' "$file" && grep -q '^\.target sm_80' "$file" && good ||
    bad "$file: not PTX 7.0 for sm_80"
done
largest=$(find "$build/device" -name '*.compute_90.ptx' -printf '%s %p\n' |
  sort -rn | sed -n '1s/^[0-9]* //p')
[ -z "$largest" ] || ! command -v ptxas >/dev/null ||
  { ptxas -arch=sm_90 "$largest" -o "$scratch/cubin" && good || bad "$largest: ptxas does not take it"; }
for file in "$build"/device/*.co; do
  [ -e "$file" ] || continue
  [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] && good || bad "$file: not a code object"
done
for file in "$build"/device/*.cubin "$build"/device/*.ptx "$build"/device/*.co; do
  case $file in *.compute_*) continue ;; esac
  [ ! -e "$file" ] || { [ -s "$file.resources" ] && good || bad "$file: no resources"; }
done
echo "$passed passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ]
