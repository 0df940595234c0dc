#!/bin/sh
# SPDX-License-Identifier: MIT
#
# device-pack.sh HOW LIST OUT: puts the device binaries of a ;-separated list into one file for the library.
#
#   heddle-pack xz 1234567 5432          how it is compressed, bytes of what follows when it is unpacked, and
#                                        bytes of the directory with which that begins
#   3915528286 12345 csr_vector__f64_i32 a line of the directory per binary: what cksum says, and its name
#   ...                                  the binaries, one behind the other
#
# HOW is the program that compresses, xz or gzip, or none.  src/gpu/pack.c is the reader.
set -eu
how=$1 list=$2 out=$3

each() { tr ';' '\n' <"$list" | xargs "$@"; }
each cksum | sed 's|^\([0-9]* [0-9]*\) .*/\([^./]*\)\.[^/]*$|\1 \2|' >"$out.directory"
directory=$(wc -c <"$out.directory")
{ cat "$out.directory" && each cat; } >"$out.raw"
# What repeats: NVIDIA's instructions have 16 bytes, AMD's 4 or 8, PTX is text.
case ${list##*/} in
sm_*) fits=lc=1,lp=3,pb=4 ;;
gfx*) fits=lc=2,lp=2,pb=2 ;;
*) fits=lc=4,lp=0,pb=0 ;;
esac
name=${how##*/}
printf 'heddle-pack %s %d %d\n' "$name" "$(wc -c <"$out.raw")" "$directory" >"$out.new"
case $name in
xz*) "$how" -c -T1 --check=crc32 "--lzma2=preset=6e,dict=32MiB,$fits" "$out.raw" ;;
gzip*) "$how" -nc "$out.raw" ;;
none) cat "$out.raw" ;;
*) echo "device-pack.sh: cannot pack with '$how'" >&2; exit 2 ;;
esac >>"$out.new"
rm "$out.raw" "$out.directory"
mv "$out.new" "$out"
