#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The page that uses every word of the dialect compiles for each GPU whose compiler is here: nvcc; clang for
# PTX without CUDA's headers, as PTX 7.0; clang for the AMD targets without ROCm's.
set -u
cd "$2" || exit 2
passed=0 failed=0 skipped=0 scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
clang=$(command -v clang-19 || command -v clang) nvcc=$(command -v nvcc)

skip() { skipped=$((skipped + 1)) && echo "skipped $1: the compiler is not here"; }
compiles() { # name, command...
  local name=$1
  shift
  if "$@" -DHEDDLE_DEVICE -Isrc tests/planted/everything.c -o "$scratch/out" >"$scratch/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)) && echo "$name:" && cat "$scratch/log"
  fi
}

for types in "float float int32_t f32_i32" "double double int32_t f64_i32" "float float int64_t f32_o64" \
  "double double int64_t f64_o64" "f16 float int32_t f16_i32" "float double int32_t f32v64_i32"; do
  read -r elem real off variant <<<"$types"
  flags=(-Delem="$elem" -Dreal="$real" -Doff="$off" -DVARIANT_NAME="$variant" -O3)
  if [ -n "$nvcc" ]; then compiles "nvcc, $variant" "$nvcc" -x cu -fatbin -arch=sm_90 "${flags[@]}"
  else skip "nvcc, $variant"; fi
  [ -n "$clang" ] || { skip "clang, $variant" && continue; }
  compiles "PTX, $variant" "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib \
    --cuda-path=/nowhere --cuda-feature=+ptx70 -Wall -Wextra -Werror -S "${flags[@]}"
  grep -q '^\.version 7\.0' "$scratch/out" ||
    { failed=$((failed + 1)) && echo "PTX, $variant: not version 7.0"; }
  for target in gfx906 gfx90a gfx942 gfx1100; do
    compiles "$target, $variant" "$clang" -x hip --offload-device-only --offload-arch="$target" \
      -nogpuinc -nogpulib \
      --no-gpu-bundle-output -munsafe-fp-atomics -Wall -Wextra -Werror "${flags[@]}"
  done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
