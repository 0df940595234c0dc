#!/bin/sh
# SPDX-License-Identifier: MIT
#
# device-compile.sh KIND PAGE VARIANT TARGET SPILLS ACCEPTED OUT COMPILER...
#
# Compiles one device binary to OUT and writes OUT.resources: a row of struct gpu_resource per kernel, from
# what the compiler itself says.  KIND is nvcc (ptxas tells registers and spills), ptx (nobody knows them
# before the driver compiles) or hip (the metadata in the assembly tells).  A spill that no line "KERNEL
# VARIANT TARGET" of the file ACCEPTED covers (* stands for anything) is named; with SPILLS=error that is a
# failure, and leaves no OUT, with SPILLS=warn it is not: other compilers spill elsewhere, and only speed is
# lost.  The PTX that nvcc made on its way to a cubin stays beside it without comments and indentation,
# PAGE__VARIANT.compute_90.ptx beside PAGE__VARIANT.sm_90.cubin.
set -eu
kind=$1 page=$2 variant=$3 target=$4 spills=$5 accepted=$6 out=$7
shift 7
here=$(dirname "$0")
case $spills in
warn | error) ;;
*) echo "device-compile.sh: SPILLS is warn or error, not '$spills'" >&2; exit 2 ;;
esac
rm -f "$out" "$out.resources" "$out.log"

run() { "$@" >>"$out.log" 2>&1 || { cat "$out.log" >&2; exit 1; }; }

case $kind in
nvcc)
  rm -rf "$out.steps"
  mkdir "$out.steps"
  run "$@" -cubin -arch="$target" -Xptxas -v --keep --keep-dir "$out.steps" -o "$out"
  cp "$out.steps"/*.ptx "$out.asm"
  sed -e 's/^[[:blank:]]*//' -e '/^\/\//d' -e '/^$/d' "$out.asm" \
    >"${out%."$target".cubin}.compute_${target#sm_}.ptx"
  rm -r "$out.steps"
  ;;
ptx)
  run "$@" -S -o "$out"
  cp "$out" "$out.asm"
  ;;
hip)
  run "$@" -S -o "$out.s"
  # Not stripped: the loader of ROCm looks for kernels in .symtab.  Of the two tables of hashes that lld would
  # make, AMD's code objects have .hash.
  run "$1" --target=amdgcn-amd-amdhsa -mcpu="$target" -Wl,--hash-style=sysv "$out.s" -o "$out"
  mv "$out.s" "$out.asm"
  ;;
*) echo "device-compile.sh: unknown kind '$kind'" >&2; exit 2 ;;
esac

awk -v kind="$kind" -v variant="$variant" -v target="$target" \
  -f "$here/device-resources.awk" "$out.asm" "$out.log" >"$out.rows"
[ "$kind" = ptx ] || grep -v '^ptxas info\|^ *[0-9]* bytes stack frame' "$out.log" >&2 || true
rm -f "$out.asm" "$out.log"

touch "$out.accepted"
[ ! -f "$accepted" ] || cp "$accepted" "$out.accepted"
if ! awk -v page="$page" -f "$here/device-spills.awk" "$out.accepted" "$out.rows" >&2 &&
  [ "$spills" = error ]; then
  rm -f "$out" "$out.rows" "$out.accepted"
  exit 1
fi
awk '{ printf "{\"%s\", \"%s\", \"%s\", %s, %s, %s, \"%s\"},\n", $1, $2, $3, $4, $5, $6, $7 }' \
  "$out.rows" >"$out.resources"
rm -f "$out.rows" "$out.accepted"
