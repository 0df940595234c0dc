#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# bash tests/check-finds.sh BUILD SOURCE [DEVICE]: `heddle check` finds the bugs that authors of kernels
# write.  Copies of three pages, each with one bug planted, become kernels of a command, and each is called
# wrong with the words that it deserves; copies without a bug are called right.
#
# DEVICE is emu unless it is given: then only the copies are compiled, and linked with the rest of BUILD.
# With cuda:0 all of a tree with the copies is built by cmake and nvcc (gcc, cmake and CUDA are all it takes),
# in a folder that is removed at the end; there a barrier that is missing is what compute-sanitizer's
# racecheck finds.
set -u
build=$(cd "$1" && pwd) source=$(cd "$2" && pwd) device=${3:-emu} scratch=$(mktemp -d)
cd "$source" || exit 2
trap 'rm -rf "$scratch"' EXIT
. tests/verdict.bash
export NO_COLOR=1 LC_ALL=C
names=()

# plant NAME PAGE OLD NEW: a copy of the page in which the first OLD is NEW becomes the kernel NAME.
plant() {
  local text
  text=$(<"src/kernel/$2.c")
  [[ $text == *"$3"* ]] || { verdict "$1 can be planted" "src/kernel/$2.c has no '$3'"; return; }
  text=${text/"$3"/"$4"}
  printf '%s\n' "${text//$2/$1}" >"$scratch/kernel/$1.c"
  names+=("$1")
}
mkdir -p "$scratch/kernel"

direct='= alpha_of(&p) * sum + beta_of(&p) * ((real *)p.y)[i]'
for page in ell_groups csr_merge csr_adaptive; do
  plant "${page#*_}_good" $page '#ifdef' '#ifdef'
done
plant groups_y ell_groups 'store_sum(&p, i, sum)' "((real *)p.y)[i] $direct"
plant groups_empty ell_groups 'group == 0 && i < p.rows)' 'group == 0 && i < p.rows && sum != 0)'
plant groups_more ell_groups 'group == 0 && i < p.rows)' 'group == 0 && i <= p.rows)'
plant groups_fewer ell_groups 'group == 0 && i < p.rows)' 'group == 0 && i < p.rows - 1)'
plant groups_barrier ell_groups 'simt_sync();' ';'
plant groups_entry ell_groups 'if (groups > 1) {' \
  'if (i == 1 && part * groups + group == 0 && p.dim[ELL_WIDTH] > 9000)
            sum += ((const real *)p.array[ELL_VAL])[i] * (((const real *)p.x)[3] - ((const real *)p.x)[0]);
        if (groups > 1) {'

merged='store_sum(p, t->row + r, products[r])'
plant merge_y csr_merge "$merged" '((real *)p->y)[t->row + r] =
            alpha_of(p) * products[r] + beta_of(p) * ((real *)p->y)[t->row + r]'
plant merge_empty csr_merge "$merged" "if (products[r] != 0) $merged"
plant merge_more csr_merge 'r < t->rows; r += simt_block_size())' \
  'r < t->rows + (t->row + t->rows == p->rows); r += simt_block_size())'
plant merge_fewer csr_merge 'r < t->rows; r += simt_block_size())' \
  'r < t->rows - (t->row + t->rows == p->rows); r += simt_block_size())'
plant merge_barrier csr_merge 'simt_sync();
    for (int r' 'for (int r'
plant merge_entry csr_merge 'x + c[i]);' 'x + (first + i * threads + thread == 17777 ? c[i] - 1 : c[i]));'

plant adaptive_y csr_adaptive 'store_sum(p, mine.row + row, sum)' \
  "((real *)p->y)[mine.row + row] = alpha_of(p) * sum + beta_of(p) * ((real *)p->y)[mine.row + row]"
plant adaptive_empty csr_adaptive 'lane == 0 && row < rows)' 'lane == 0 && row < rows && sum != 0)'
plant adaptive_more csr_adaptive 'lane == 0 && row < rows)' \
  'lane == 0 && row < rows + (mine.row + rows == p->rows))'
plant adaptive_fewer csr_adaptive 'lane == 0 && row < rows)' \
  'lane == 0 && row < rows - (mine.row + rows == p->rows))'
plant adaptive_barrier csr_adaptive 'simt_sync();
    sum_rows' 'sum_rows'
plant adaptive_entry csr_adaptive 'x + c[i]);' \
  'x + (begin + simt_thread_id() + i * threads == 17777 ? c[i] - 1 : c[i]));'

cp src/kernel/kernels.def "$scratch/kernel/"
printf 'KERNEL(%s, gpu, real)\n' "${names[@]}" >>"$scratch/kernel/kernels.def"

# Compiles COMMAND... for each name, as many at a time as there are cores.
each() {
  local name
  for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    "$@" "$name" || touch "$scratch/broken" &
  done
  wait
}

compile() {
  local cc=(${CC:-cc} -std=c11 -O1 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -I"$scratch" -Isrc
    -Iinclude -c)
  "${cc[@]}" "$scratch/kernel/$1.c" -o "$scratch/$1.o" &&
    "${cc[@]}" -Delem=double -Dreal=double -Doff=int32_t -DVARIANT_NAME=f64_i32 -DHEDDLE_DEVICE -DSIMT_EMU \
    -DPAGE_NAME="$1" \
      "$scratch/kernel/$1.c" -o "$scratch/$1.emu.o"
}

# A command with the copies: their objects, a registry that knows them, and all else as it was built.
link_command() {
  local libraries objects
  each compile
  "${CC:-cc}" -std=c11 -O1 -D_POSIX_C_SOURCE=200809L -I"$scratch" -Isrc -Iinclude -c src/kernel/registry.c \
    -o "$scratch/registry.o" || touch "$scratch/broken"
  mapfile -t libraries < <(sed -nE 's/^(ZLIB|LIBLZMA)_LIBRARY_RELEASE:FILEPATH=(.*\.(so|a))$/\2/p' \
    "$build/CMakeCache.txt")
  mapfile -t objects < <(cd "$build/CMakeFiles/heddle_command.dir" && find src -name '*.o' |
    while read -r object; do
    [ -e "$source/${object%.o}" ] && echo "$PWD/$object" # not what was built of a source that has moved
  done)
  "${CC:-cc}" "${objects[@]}" "$scratch"/*.o "$build/libheddle_tools.a" "${libraries[@]}" -ldl -lpthread -lm \
    -o "$scratch/heddle" || touch "$scratch/broken"
}

# The same for CUDA devices, whose binaries are packed: a tree of its own.
build_command() {
  mkdir "$scratch/tree" && tar -cf - --exclude='./build*' --exclude=./.git . | tar -xf - -C "$scratch/tree"
  cp "$scratch"/kernel/* "$scratch/tree/src/kernel/"
  { cmake -S "$scratch/tree" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Release -DHEDDLE_CUDA_COMPILER=auto \
    -DHEDDLE_CUDA_ARCH=native -DHEDDLE_HIP_COMPILER=none &&
    cmake --build "$scratch/build" --target heddle_command \
    -j "$(nproc)"; } >"$scratch/log" 2>&1 || { tail -40 "$scratch/log"; touch "$scratch/broken"; }
  ln -s "$scratch/build/heddle" "$scratch/heddle"
}

if [ "${device%%:*}" = emu ]; then link_command; else build_command; fi
[ -e "$scratch/broken" ] && { verdict "the planted pages are built" "see above"; told; exit; }

# 700 rows of which each third is empty, and 3 rows of 10,000 entries.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n700 300", 467 * 9
             for (i = 1; i <= 700; i++)
               if (i % 3 != 2) for (j = 1; j <= 9; j++) print i, (i * 7 + j * 31) % 300 + 1, i % 11 + j }' \
  >"$scratch/short.mtx"
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n3 12000 30000"
             for (i = 1; i <= 3; i++)
               for (j = 1; j <= 10000; j++) print i, j + 100 * i, (j * 37 + i) % 101 - 50.5 }' \
  >"$scratch/long.mtx"
check() { # matrix, names...
  local matrix=$1
  shift
  "$scratch/heddle" check "$scratch/$matrix.mtx" --device "$device" --type f64 --op N \
    --kernel "$(IFS=,; echo "$*")" 2>&1
}

# found NAME MATRIX WORDS: the kernel is called wrong on the matrix, with the words; status 1.
found() {
  local output status
  output=$(check "$2" "$1")
  status=$?
  [ $status -eq 1 ] && grep -qF "WRONG: $1 f64 N" <<<"$output" && grep -qF -- "$3" <<<"$output"
  verdict "$1 is found" "$([ $? -eq 0 ] || echo "status $status: $output")"
}

good=(groups_good merge_good adaptive_good)
for matrix in short long; do
  output=$(check $matrix "${good[@]}")
  verdict "pages without a bug are right ($matrix)" \
    "$([ $? -eq 0 ] && grep -q ' 3 of 3 combinations verified' <<<"$output" ||
    echo "$output")"
done
for page in groups merge adaptive; do
  found ${page}_y short 'beta 0: row 0 is nan'
  found ${page}_empty short 'row 1 is nan, not 0'
  found ${page}_more short 'it wrote past the end of y: entry 700 of a vector of 700'
  found ${page}_fewer short 'row 699 is nan'
  found ${page}_entry long 'row 1 is'
done

# On the emulator a thread runs until it must wait, so that without the barrier it reads what nobody has
# written yet.
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
hazards() { # matrix, name: what racecheck sums up
  "$sanitizer" --tool racecheck "$scratch/heddle" check "$scratch/$1.mtx" --device "$device" --type f64 \
    --op N --kernel "$2" 2>&1 |
    grep 'RACECHECK SUMMARY'
}
for page in groups merge adaptive; do
  if [ "${device%%:*}" = emu ]; then
    found ${page}_barrier short 'row '
  else
    verdict "${page}_good has no hazards" \
      "$(hazards short ${page}_good | grep -q ' 0 hazards' || echo 'racecheck sees hazards, or nothing')"
    verdict "${page}_barrier is found" "$(hazards short ${page}_barrier | grep -q '[1-9][0-9]* hazards' ||
      echo 'racecheck saw no hazard')"
  fi
done
told
