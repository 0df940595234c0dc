#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# fuzz/run.sh [SECONDS_PER_TARGET [BUILD_FOLDER]]: builds the fuzz targets (the seven readers, .hdl through
# the API, descriptions, options and specs of the API against an exact oracle) with clang and runs each for a
# bounded time, one after the other.  Ends with a status other than 0 if one of them finds something; the
# input that did it is named and kept.
set -eu
seconds=${1:-60}
root=$(cd "$(dirname "$0")/.." && pwd)
build=${2:-$root/build-fuzz}
clang=${CLANG:-}
for candidate in clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
    [ -n "$clang" ] || clang=$(command -v "$candidate" || true)
done
[ -n "$clang" ] || { echo "fuzzing needs clang (apt-get install clang libclang-rt-dev)" >&2; exit 2; }

cmake -S "$root" -B "$build" -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHEDDLE_FUZZ=ON \
      -DHEDDLE_TESTS=OFF -DHEDDLE_OPENMP=OFF -DHEDDLE_CUDA_COMPILER=none -DHEDDLE_HIP_COMPILER=none \
      -DHEDDLE_SANITIZE=fuzzer-no-link,address,undefined \
      > "$build.log" 2>&1 ||
    { cat "$build.log" >&2; exit 2; }
targets=$(cd "$root/fuzz" && ls fuzz_*.c | sed 's/\.c$//')
# shellcheck disable=SC2086
cmake --build "$build" -j2 --target $targets >> "$build.log" 2>&1 || { tail -40 "$build.log" >&2; exit 2; }

mkdir -p "$build/seeds"
command -v python3 > /dev/null && python3 "$root/fuzz/seeds.py" "$build/seeds"
failed=0
for target in $targets; do
    name=${target#fuzz_}
    program=$(find "$build" -type f -name "$target" -perm -u+x | head -1)
    mkdir -p "$build/corpus/$name" "$build/found/$name" "$build/seeds/$name"
    kept=$root/fuzz/corpus/$name
    [ -d "$kept" ] || kept=$build/seeds/$name
    echo "$target: $seconds s"
    if ! "$program" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3072 -max_len=8192 \
        -print_final_stats=1 \
            -artifact_prefix="$build/found/$name/" "$build/corpus/$name" "$kept" "$build/seeds/$name" \
            > "$build/$target.log" 2>&1; then
        tail -40 "$build/$target.log"
        echo "$target: FAILED, see $build/found/$name"
        failed=1
    fi
    grep -E "cov: .*ft: |number_of_executed_units" "$build/$target.log" | tail -2 || true
done
exit $failed
