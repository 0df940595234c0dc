#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The pages that docs/adding-a-kernel.md shows are taken from its text and do what it says: with their row in
# kernels.def and nothing else they compile (host half and device half, as C without a warning; by the device
# compilers that are here), and the GPU's computes the right product on the emulator.  They get names of their
# own for that, so that the same holds in a tree where somebody has followed the document.  Every GPU page of
# the tree compiles the same way.
#
# With HEDDLE_SLOW_TESTS=1 the document is followed to the letter: a copy of the tree with the two pages and
# the two rows is built, and the tests that it names pass there, as does this one.
set -u
build=$(cd "$1" && pwd) passed=0 failed=0 scratch=$(mktemp -d)
cd "$2" || exit 2
trap 'rm -rf "$scratch"' EXIT
good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "$*"; }
cc=${CC:-cc}
clang=$(command -v clang-19 || command -v clang)
[ -n "$clang" ] && [ "$("$clang" -dumpversion | cut -d. -f1)" -lt 17 ] && clang='' # too old for device code

try() { # what it shows, command...
  local name=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then good; else bad "$name:" && cat "$scratch/log"; fi
}

# block NAME: the block of C code in the document whose essay begins with "NAME:".
block() {
  awk -v name="$1:" '/^```c$/ { inside = 1; text = ""; next }
                     /^```$/ { if (inside && found) { printf "%s", text; exit } inside = found = 0; next }
                     inside { text = text $0 "\n"; if (index($0, " * " name) == 1) found = 1 }' \
                       docs/adding-a-kernel.md
}

rows=('KERNEL(cpu_plain, cpu, real)' 'KERNEL(gpu_plain, gpu, real)')
for row in "${rows[@]}"; do
  grep -qF "$row" docs/adding-a-kernel.md && good || bad "the document does not say: $row"
done

# A tree over src in which the two pages have their rows, under names that nobody has taken.
mkdir -p "$scratch/kernel"
for name in cpu_plain gpu_plain; do
  block $name | sed "s/$name/documented_$name/g" >"$scratch/kernel/documented_$name.c"
  [ -s "$scratch/kernel/documented_$name.c" ] && good || bad "the document has no page $name"
done

flags=(-std=c11 -Wall -Wextra -Wpedantic -Werror -O1 -D_POSIX_C_SOURCE=200809L -I"$scratch" -Isrc -Iinclude)
types=(-Delem=double -Dreal=double -Doff=int32_t -DVARIANT_NAME=f64_i32)
host() { try "$1, host half" "$cc" "${flags[@]}" -c "$1" -o "$2"; }
emulated() { # page, object
  try "$1, device half" "$cc" "${flags[@]}" "${types[@]}" -DHEDDLE_DEVICE -DSIMT_EMU \
    -DPAGE_NAME="$(basename "$1" .c)" \
    -ffp-contract=off -c "$1" -o "$2"
}

# Once as the tree is, and once as if its author had added both kernels: what is in kernels.def already does
# not matter.
for before in "" "$(printf '%s\n' "${rows[@]}")"; do
  { cat src/kernel/kernels.def; [ -n "$before" ] && grep -qF "${rows[0]}" src/kernel/kernels.def ||
    echo "$before"
    printf 'KERNEL(documented_cpu_plain, cpu, real)\nKERNEL(documented_gpu_plain, gpu, real)\n'; } \
      >"$scratch/kernel/kernels.def"
  host "$scratch/kernel/documented_cpu_plain.c" "$scratch/cpu_plain.o"
  try "cpu_plain, device half" "$cc" "${flags[@]}" "${types[@]}" -DHEDDLE_DEVICE -DISA_NAME=generic \
    -c "$scratch/kernel/documented_cpu_plain.c" -o "$scratch/cpu_plain.device.o"
  host "$scratch/kernel/documented_gpu_plain.c" "$scratch/gpu_plain.o"
  emulated "$scratch/kernel/documented_gpu_plain.c" "$scratch/gpu_plain.emu.o"
done
if [ -n "$clang" ]; then
  device=("$clang" -DHEDDLE_DEVICE "${types[@]}" -DPAGE_NAME=documented_gpu_plain -I"$scratch" -Isrc
    -Iinclude -O3 -Wall -Wextra -Werror)
  targets=$("$clang" -print-targets 2>/dev/null)
  if grep -q nvptx64 <<<"$targets"; then
    try "gpu_plain, PTX" "${device[@]}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 \
      -nocudainc -nocudalib \
      --cuda-path=/nowhere --cuda-feature=+ptx70 -S "$scratch/kernel/documented_gpu_plain.c" -o "$scratch/out"
  fi
  if grep -q amdgcn <<<"$targets"; then
    try "gpu_plain, gfx90a" "${device[@]}" -x hip --offload-device-only --offload-arch=gfx90a -nogpuinc \
      -nogpulib -S \
      "$scratch/kernel/documented_gpu_plain.c" -o "$scratch/out"
  fi
fi

# The GPU's page at work: A = [1 2 0; 0 0 0; 0 3 4], y = 2 A x + 3 y.
cat >"$scratch/run.c" <<'RUN'
#include <stdio.h>

#include "kernel/kernel.h"

extern const struct kernel documented_gpu_plain;

static const void *there(const struct device *d, const void *here, int64_t bytes)
{
    void *p;
    return device_alloc(d, &p, bytes) == HEDDLE_OK && device_copy(d, p, here, bytes) == HEDDLE_OK ? p : NULL;
}

int main(int argc, char **argv)
{
    static const int32_t row_ptr[] = {0, 2, 2, 4}, col[] = {0, 1, 1, 2};
    static const double val[] = {1, 2, 3, 4}, x[] = {1, 2, 3}, before[] = {1, 1, 1}, want[] = {13, 3, 39};
    struct device d = {.kind = DEVICE_gpu};
    double y[3];
    if (argc < 2 || gpu_open(&d.gpu, argv[1]) != HEDDLE_OK)
        return 2;
    struct work w = {.kernel = &documented_gpu_plain, .page = documented_gpu_plain.name, .device = &d,
                     .variant = VARIANT_f64_i32};
    w.value = HEDDLE_F64;
    w.product = (struct product){.rows = 3, .cols = 3, .nnz = 4, .x = there(&d, x, sizeof x),
                                 .y = (void *)(uintptr_t)there(&d, before, sizeof before)};
    w.product.array[CSR_ROW_PTR] = there(&d, row_ptr, sizeof row_ptr);
    w.product.array[CSR_COL] = there(&d, col, sizeof col);
    w.product.array[CSR_VAL] = there(&d, val, sizeof val);
    scalar_put(w.product.alpha, w.value, 2);
    scalar_put(w.product.beta, w.value, 3);
    if (documented_gpu_plain.launch(&w) != HEDDLE_OK ||
        device_read(&d, y, w.product.y, sizeof y) != HEDDLE_OK)
        return printf("%s\n", heddle_last_error()), 2;
    printf("%g %g %g\n", y[0], y[1], y[2]);
    return y[0] != want[0] || y[1] != want[1] || y[2] != want[2];
}
RUN
read -ra libraries <<<"$(sed -n 's/^Libs.private: *//p' "$build/heddle.pc.in")"
try "a program with the page" "$cc" "${flags[@]}" "$scratch/run.c" "$scratch/gpu_plain.o" \
  "$scratch"/gpu_plain.emu.o \
  "$build/libheddle_tools.a" "${libraries[@]}" -ldl -lpthread -o "$scratch/run"
for wave in 32 64; do
  try "gpu_plain on waves of $wave lanes" "$scratch/run" "emu:wave=$wave"
done

# Every page of the tree is C.
for page in $(sed -nE 's/^KERNEL\(([a-z0-9_]+), gpu[a-z_]*, [a-z]+\).*/\1/p' src/kernel/kernels.def) \
  $(sed -nE 's/^SERVICE\(([a-z0-9_]+), [a-z_]+, [a-z]+\).*/\1/p' src/convert/services.def); do
  file=$(find src/kernel src/convert -name "$page.c")
  host "$file" /dev/null
  emulated "$file" /dev/null
done

# To the letter.
follow() {
  local tree=$scratch/tree there=$scratch/build cache=$build/CMakeCache.txt name
  mkdir "$tree" && tar -cf - --exclude='./build*' --exclude=./.git . | tar -xf - -C "$tree" || return
  for name in cpu_plain gpu_plain; do
    block $name >"$tree/src/kernel/$name.c"
  done
  printf '%s\n' "${rows[@]}" >>"$tree/src/kernel/kernels.def"
  cmake -S "$tree" -B "$there" -DCMAKE_BUILD_TYPE=Release -DHEDDLE_TESTS=ON -DHEDDLE_CUDA_COMPILER=none \
    -DHEDDLE_HIP_COMPILER=none \
    "-DCMAKE_C_COMPILER_LAUNCHER=$(sed -n 's/^CMAKE_C_COMPILER_LAUNCHER:[A-Z]*=//p' "$cache")" &&
    cmake --build "$there" -j "$(nproc)" --target heddle_command heddle_tools test_kernels test_kernels_gpu &&
    "$there/heddle" kernels | grep -q cpu_plain && "$there/heddle" kernels | grep -q gpu_plain &&
    HEDDLE_TEST_KERNELS=cpu_plain "$there/tests/test_kernels" &&
    HEDDLE_TEST_KERNELS=gpu_plain "$there/tests/test_kernels_gpu" &&
    env -u HEDDLE_SLOW_TESTS bash "$tree/tests/documented.sh" "$there" "$tree"
}
if [ -n "${HEDDLE_SLOW_TESTS:-}" ] && ! grep -qF "${rows[0]}" src/kernel/kernels.def; then
  try "the document, followed to the letter" env -u HEDDLE_TEST_KERNELS bash -c "$(declare -f follow block)
    scratch='$scratch' build='$build'; rows=($(printf "'%s' " "${rows[@]}")); follow"
fi
echo "$passed passed, $failed failed, ${skipped:-0} skipped"
[ "$failed" -eq 0 ]
