#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Run by run.sh inside a new Debian, in which /heddle has the packages.
set -u
cd /heddle || exit 2
. ./verdict.bash
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
fetch() { apt-get install -y -qq --no-install-recommends "$@" >apt.log 2>&1 || { cat apt.log; exit 1; }; }
said() { "$@" >log 2>&1 || { echo "$* failed:"; cat log; }; }

apt-get update -qq >apt.log 2>&1 || { cat apt.log; exit 1; }
fetch gcc g++ clang lld libc6-dev make cmake pkg-config
verdict "dpkg -i" "$(said dpkg -i ./*.deb)"
verdict "the command runs" "$(said heddle check gen:grid2d:n=9)"
verdict "the command runs on the emulator" \
    "$(said heddle check gen:grid2d:n=9 --device emu --kernel csr_vector)"
verdict "the library is found" "$(ldconfig -p | grep -q libheddle.so || echo "ldconfig does not know it")"

# The README's example, with what it leaves to the reader.
{
    echo '#include <heddle.h>'
    echo 'int main(void) {'
    echo '  int32_t row_ptr[] = {0, 2, 3}, col[] = {0, 1, 1}; int64_t m = 2, n = 2, nnz = 3;'
    echo '  double val[] = {1, 2, 4}, new_val[] = {2, 4, 8}, x[] = {3, 5}, y[2], x2[] = {3, 5}, y2[2];'
    awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on && !/#include/' README.md
    echo '  return !(y[0] == 13 && y[1] == 20 && y2[0] == 3 && y2[1] == 26);'
    echo '}'
} >readme.c
verdict "the README has its example" "$(grep -q heddle_plan_mv readme.c || cat readme.c)"

by_pkg_config() { # by_pkg_config COMPILER KIND FLAGS...
    local compiler=$1 kind=$2 libs
    shift 2
    libs=$(pkg-config --libs heddle)
    [ "$kind" = shared ] || libs="-Wl,-Bstatic -lheddle -Wl,-Bdynamic $(pkg-config --static --libs heddle |
        sed 's/-lheddle//')"
    # shellcheck disable=SC2046,SC2086
    "$compiler" "$@" readme.c $(pkg-config --cflags heddle) $libs -o readme && ./readme
}
by_find_package() { # by_find_package COMPILER TARGET FLAGS...: a C++ project
    local compiler=$1 target=$2
    shift 2
    rm -rf cmake
    cmake -S consumer/cxx -B cmake -DCMAKE_CXX_COMPILER="$compiler" "-DCMAKE_CXX_FLAGS=$*" \
        -DTARGET="$target" &&
        cmake --build cmake && cmake/program
}
every_way() { # every_way KIND TARGET
    local flags
    for flags in "-O2" "-O2 -flto"; do
        # clang's own -flto needs its own linker on Debian
        # shellcheck disable=SC2086
        {
            verdict "pkg-config, $1, gcc $flags" "$(said by_pkg_config gcc "$1" $flags)"
            verdict "pkg-config, $1, clang $flags" "$(said by_pkg_config clang "$1" $flags -fuse-ld=lld)"
            verdict "find_package, $1, g++ $flags" "$(said by_find_package g++ "$2" $flags)"
            verdict "find_package, $1, clang++ $flags" \
                "$(said by_find_package clang++ "$2" $flags -fuse-ld=lld)"
        }
    done
}
every_way shared heddle::heddle
by_find_package g++ heddle::heddle_static >log 2>&1 && problem="nothing is missed"
grep -q 'heddle::static_needs_libz_which_is_not_here' log || problem=$(cat log)
verdict "static without zlib1g-dev: what is missing is named" "${problem:-}"
fetch zlib1g-dev liblzma-dev # what libheddle-dev recommends
every_way static heddle::heddle_static
verdict "dpkg -r" \
    "$(said dpkg -r heddle libheddle-dev "$(dpkg-query -W -f '${Package}\n' 'libheddle[0-9]*' | head -n 1)")"
told
