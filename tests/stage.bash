# SPDX-License-Identifier: MIT
#
# What the tests of installing and packaging share: source it with build, source and scratch set.

# stage FOLDER ARGUMENTS...: configures FOLDER with further arguments of CMake, as the build was, and lays
# what is built already into it, so that it can be installed and packaged without compiling everything again.
stage() {
    local folder=$1 name
    local -a same=()
    shift
    for name in HEDDLE_LZMA HEDDLE_D3 CMAKE_C_COMPILER CMAKE_BUILD_TYPE; do
        same+=("-D$name=$(grep -oP "^$name:[^=]*=\K.*" "$build/CMakeCache.txt")")
    done
    cmake -S "$source" -B "$folder" -DHEDDLE_TESTS=OFF -DHEDDLE_CUDA_COMPILER=none \
        -DHEDDLE_HIP_COMPILER=none \
        -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON "${same[@]}" "$@" >"$folder.log" 2>&1 ||
        { cat "$folder.log"; return 1; }
    cp -P "$build"/libheddle.so* "$build/libheddle.a" "$build/heddle" "$folder"
}

# said COMMAND...: what a command that fails says; nothing if it succeeds.
said() {
    "$@" >"$scratch/said" 2>&1 || { echo "$* failed:"; cat "$scratch/said"; }
}
