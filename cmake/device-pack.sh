#!/bin/sh
# SPDX-License-Identifier: MIT
#
# device-pack.sh HOW FORM LZMA LIST OUT: puts the device binaries of a ;-separated list into one file for the library.
#
#   heddle-pack xz ptx 1234567 5432      how it is compressed, the form of the binaries, bytes of what follows when it is
#                                        unpacked, and bytes of the directory with which that begins
#   3915528286 12345 csr_vector__f64_i32 a line of the directory per binary: what cksum says, and its name (AMD's: ....gfx90a)
#   ...                                  the binaries, one behind the other
#
# What is unpacked has its directory and every binary filled up with zeros to a multiple of 16 bytes, the size of an instruction of
# NVIDIA's: xz finds more that is repeated where it lies alike.
#
# HOW is the program that compresses, xz or gzip, or none.  FORM ptx means PTX as device-ptx.awk shortens it, cubin and co are
# taken as they are; LZMA has xz's settings for it.  src/gpu/pack.c is the reader.
set -eu
how=$1 form=$2 lzma=$3 list=$4 out=$5

# Neighbours should be alike: of a page, the variants of an architecture.
each() { tr ';' '\n' <"$list" | sed 's|^\(.*__\)\([^.]*\)\.\(.*\)$|\1 \3 \2 &|' | LC_ALL=C sort | sed 's|.* ||' | xargs "$@"; }

# AMD's, of several architectures, keep that in the name.
case $form in co) ending='\.co' ;; *) ending='\.[^/ ]*' ;; esac
each cksum | sed "s|^\([0-9]* [0-9]*\) .*/\([^/]*\)$|\1 \2|; s|$ending\$||" >"$out.directory"
directory=$(wc -c <"$out.directory")
fill='for file; do dd if="$file" ibs=16 obs=65536 conv=sync 2>/dev/null || exit; done'
sh -c "$fill" fill "$out.directory" >"$out.raw"
each sh -c "$fill" fill >>"$out.raw"
name=${how##*/}
printf 'heddle-pack %s %s %d %d\n' "$name" "$form" "$(wc -c <"$out.raw")" "$directory" >"$out.new"
case $name in
xz*) "$how" -c -T1 --check=crc32 --lzma2="$lzma,dict=16MiB" "$out.raw" ;;
gzip*) "$how" -nc "$out.raw" ;;
none) cat "$out.raw" ;;
*) echo "device-pack.sh: cannot pack with '$how'" >&2; exit 2 ;;
esac >>"$out.new"
rm "$out.raw" "$out.directory"
mv "$out.new" "$out"
