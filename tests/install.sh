#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# An installed tree is found wherever it lies, asks nobody for what he does not use, and is compiled as the
# caller says.
set -u
build=$(realpath "$1") source=$(realpath "$2")
here=$source/tests
. "$here/verdict.bash"
. "$here/stage.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

version() { grep -oP "#define HEDDLE_VERSION_$1 \K[0-9]+" "$source/include/heddle.h"; }
abi=$(version MAJOR).$(version MINOR)
soname=$(readelf -d "$build/libheddle.so" | grep -oP 'SONAME.*\[\K[^]]*')
verdict "the soname carries the minor" \
    "$([ "$soname" = "libheddle.so.$abi" ] || echo "$soname, not libheddle.so.$abi")"
verdict "heddle.h names the soname" \
    "$(grep -qF "libheddle.so.$abi" "$source/include/heddle.h" || echo "no libheddle.so.$abi in it")"
verdict "heddle.h promises no ABI across minors" "$(grep -n 'only append' "$source/include/heddle.h")"

# ---------------------------------------------------------------------- pkg-config

# runs_by_pc FOLDER: problems of a program that is compiled with the heddle.pc of FOLDER and nothing else
# said.
runs_by_pc() {
    local flags libs
    flags=$(PKG_CONFIG_PATH=$1 pkg-config --cflags heddle) &&
        libs=$(PKG_CONFIG_PATH=$1 pkg-config --libs heddle) || { echo "not found"; return; }
    # shellcheck disable=SC2086
    said cc $flags "$here/consumer/main.c" $libs -o "$scratch/by_pc"
    said env LD_LIBRARY_PATH="$1/.." "$scratch/by_pc"
}
if command -v pkg-config >/dev/null; then
    said cmake --install "$build" --prefix "$scratch/first"
    pc=$(find "$scratch/first" -name heddle.pc)
    verdict "heddle.pc follows --prefix" "$(runs_by_pc "$(dirname "$pc")")"
    mv "$scratch/first" "$scratch/moved"
    verdict "heddle.pc follows a tree that was moved" "$(runs_by_pc "$(dirname "${pc/first/moved}")")"

    stage "$scratch/absolute" -DHEDDLE_PETSC=none -DCMAKE_INSTALL_LIBDIR="$scratch/elsewhere/lib"
    said cmake --install "$scratch/absolute" --prefix "$scratch/second"
    verdict "heddle.pc knows an absolute folder of libraries" \
        "$(runs_by_pc "$scratch/elsewhere/lib/pkgconfig")"
fi

# ---------------------------------------------------------------------- find_package

# A system without the development files of zlib and lzma: CMake does not look where they are.
hidden=$(dirname "$(realpath -s "$(cc -print-file-name=libz.so)")")
hidden="$hidden;${hidden#/usr};/usr/lib;/lib;/usr/lib64;/lib64;/usr/include"
said cmake --install "$build" --prefix "$scratch/third"
project() { # project NAME TARGET ARGUMENTS...: a C++ project, without C, that links TARGET
    local name=$1 target=$2
    shift 2
    cmake -S "$here/consumer/cxx" -B "$scratch/$name" -DTARGET="$target" \
        -DCMAKE_PREFIX_PATH="$scratch/third" "$@" &&
        cmake --build "$scratch/$name" && "$scratch/$name/program"
}
if command -v c++ >/dev/null; then
    verdict "find_package serves a project without C, shared" "$(said project shared heddle::heddle)"
    verdict "find_package serves a project without C, static" "$(said project static heddle::heddle_static)"
    verdict "the shared library asks for no zlib" \
        "$(said project bare heddle::heddle "-DCMAKE_IGNORE_PATH=$hidden")"
    project lacking heddle::heddle_static "-DCMAKE_IGNORE_PATH=$hidden" >"$scratch/lacking.log" 2>&1 &&
        problem="nothing is missed"
    grep -q 'heddle::static_needs_libz_which_is_not_here' "$scratch/lacking.log" ||
        problem=$(cat "$scratch/lacking.log")
    verdict "what the static library misses is named" "${problem:-}"
fi

# ---------------------------------------------------------------------- the caller's flags

stage "$scratch/flags" -DCMAKE_C_FLAGS=-flto "-DCMAKE_C_FLAGS_RELEASE=-O1 -DCALLERS_OWN" \
    -DCMAKE_BUILD_TYPE=Release
# what C++ is compiled with is another variable
commands=$(grep '"command"' "$scratch/flags/compile_commands.json" | grep -v '\.cpp"')
verdict "the caller's release flags are in every command" \
    "$(grep -v -- '-O1 -DCALLERS_OWN' <<<"$commands" | head -n 3)"
verdict "no other level follows them" "$(grep -E -- '-O1 -DCALLERS_OWN.* -O' <<<"$commands" | head -n 3)"
# Slow: all of it, linked three ways, multiplying on the emulator.  Quick: of each kind that needs care an
# object.
make_of() { make -s -C "$scratch/flags" -j "${JOBS:-2}" "$@"; }
if [ -n "${HEDDLE_SLOW_TESTS:-}" ]; then
    rm "$scratch/flags"/libheddle* "$scratch/flags/heddle"
    verdict "everything is built with -flto" "$(said make_of)"
    verdict "and runs" "$(said "$scratch/flags/heddle" check gen:grid2d:n=9 --device emu --kernel csr_vector)"
    objects=$(find "$scratch/flags" -name '*.o')
else
    rm -rf "$scratch/flags/objects" && mkdir "$scratch/flags/objects"
    objects=""
    for name in kernel/csr_vector.c gpu/emu_fibre.c gpu/emu.c report-parts.c; do
        command=$(grep "\"command\".*$name\"" "$scratch/flags/compile_commands.json" | tail -n 1 |
            sed 's/.*"command": "//; s/",$//; s/\\"/"/g')
        object=$scratch/flags/objects/$(basename "$name").o
        verdict "$name is compiled with -flto" \
            "$(said sh -c "cd '$scratch/flags' && ${command/ -o * -c / -o $object -c }")"
        objects+=" $object"
    done
fi
# shellcheck disable=SC2086
verdict "objects are machine code" \
    "$(for o in $objects; do readelf -S -W "$o" 2>&1 | grep -q '\.gnu\.lto\|not an ELF' &&
        echo "$o"; done | head -n 3)"
told
