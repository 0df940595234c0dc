#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# gpu.sh: builds Heddle for the GPU of this machine, NVIDIA or AMD, and runs what the arguments ask for:
#
#   bench/gpu.sh                                   build, and say what is here
#   bench/gpu.sh test                              the test programs that can use a device, on this one;
#                                                  `test all`: every one, `test kernels_gpu`: those named
#   bench/gpu.sh check smoke paper                 heddle check set:smoke set:paper on the device
#   bench/gpu.sh sanitize smoke                    the same under compute-sanitizer: memcheck, racecheck,
#                                                  initcheck
#   bench/gpu.sh baseline                          the ten-line kernels of bench/baseline.cu beside Heddle's,
#                                                  and cuSPARSE timed by both, on the matrices of
#                                                  set:baseline (`baseline small`: the first 16)
#   bench/gpu.sh plain set:baseline/grid2d_39      heddle_mv beside the plain sub-warp kernel of
#                                                  bench/baseline.cu, on small matrices
#   bench/gpu.sh bench set:baseline --type f64     heddle bench; words that begin with - and what follows go
#                                                  to heddle
#   bench/gpu.sh reproduce all                     heddle reproduce: the papers' tables and figures; pages
#                                                  and drawings in reproduce/, records in reproduce.jsonl
#   bench/gpu.sh check smoke bench smoke paper     several, in order
#
# A matrix is whatever heddle takes; a bare word that names a set (but baseline) may go without set:.  Into
# ${OUT:-.} are written: gpu.log with all output, resources.txt, and the records of each bench as
# bench-MATRIX.jsonl.  The last lines are a table of the steps; the exit status is that of the worst.
#
# The sanitizer slows a program down some ten to fifty times, most of it on the host, so its matrices are
# dealt out to JOBS processes that share the device.  In the environment: DEVICE (the first GPU), BUILD
# (build-gpu), CMAKE_ARGS, JOBS, RESUME (not empty: a bench goes on where its records end), and
# HEDDLE_MODULE_DIR, which loads device binaries from files instead of those that were built here.
set -u
cd "$(dirname "$0")/.." || exit 2
out=${OUT:-.} build=${BUILD:-build-gpu} jobs=${JOBS:-$(nproc)}
mkdir -p "$out" || exit 2
log=$out/gpu.log
: >"$log"
table=() worst=0 fresh=--fresh
[ -z "${RESUME:-}" ] || fresh=

# step NAME COMMAND...: runs it, with its output in the log as well, and adds a row to the table.
step() {
  local name=$1 begin=$SECONDS code result=good
  shift
  printf '\n== %s: %s\n' "$name" "$*" | tee -a "$log"
  "$@" 2>&1 | tee -a "$log"
  code=${PIPESTATUS[0]}
  [ "$code" -eq 0 ] || result="status $code"
  table+=("$(printf '%-32s %-10s %5d s   %.70s' "$name" "$result" $((SECONDS - begin)) "$(tail -1 "$log")")")
  [ "$code" -le "$worst" ] || worst=$code
  return "$code"
}

finish() {
  printf '\n%-32s %-10s %7s   %s\n' step result time "last line"
  [ ${#table[@]} -eq 0 ] || printf '%s\n' "${table[@]}"
  exit "$worst"
}

configure() {
  local arch=()
  if command -v nvidia-smi >/dev/null; then
    arch=(-DHEDDLE_CUDA_ARCH=native -DHEDDLE_HIP_COMPILER=none)
  elif command -v rocm_agent_enumerator >/dev/null || [ -x /opt/rocm/bin/rocm_agent_enumerator ]; then
    arch=(-DHEDDLE_HIP_ARCH=native -DHEDDLE_CUDA_COMPILER=none)
  fi
  # shellcheck disable=SC2086  # CMAKE_ARGS is a list of words
  cmake -B "$build" "${arch[@]}" -DHEDDLE_TESTS=ON ${CMAKE_ARGS:-}
}

# Is this test program among the words?  Without any: does it look at HEDDLE_TEST_DEVICES?
is_wanted() {
  local name program=$1
  shift
  name=$(basename "$program")
  case " $* " in
  "  ") grep -q HEDDLE_TEST_DEVICES "$program" ;;
  *" all "* | *" $name "* | *" ${name#test_} "*) return 0 ;;
  *) return 1 ;;
  esac
}

# Cubins that are named for the device and made for another architecture, for test_cuda.
other_arch() {
  local arch other=sm_80 page
  arch=$("$build/heddle" devices | grep -oE 'sm_[0-9]+' | head -1)
  { [ -n "$arch" ] && command -v nvcc >/dev/null; } || return
  case $arch in sm_8*) other=sm_90 ;; esac
  mkdir -p "$build/other-arch"
  for page in look:float:f32 scale:double:f64 csr_naive:double:f64 csr_naive_t:double:f64; do
    IFS=: read -r page number type <<<"$page"
    nvcc -x cu -cubin -arch="$other" -O3 -DHEDDLE_DEVICE -Isrc -Iinclude -Delem="$number" -Dreal="$number" \
      -Doff=int32_t -DVARIANT_NAME="${type}_i32" \
      -DPAGE_NAME="$page" "$(find src/kernel src/convert -name "$page.c")" \
      -o "$build/other-arch/${page}__${type}_i32.$arch.cubin" || return
  done
  export HEDDLE_TEST_OTHER_ARCH=$PWD/$build/other-arch
}

run_tests() {
  local program said failed=0
  export HEDDLE_TEST_DEVICES=$device
  other_arch
  for program in "$build"/tests/test_*; do
    { [ -f "$program" ] && [ -x "$program" ] && is_wanted "$program" "$@"; } || continue
    said=$("$program" 2>&1) || { failed=1; echo "$said"; }
    printf '%-28s %s\n' "$(basename "$program")" "$(tail -1 <<<"$said")"
  done
  return "$failed"
}

# Each operand of heddle check on a line of its own, the members of sets one by one.
members() {
  local word
  for word in "$@"; do
    case $word in
    set:*/*) echo "$word" ;;
    set:*) "$build/heddle" complete members | grep "^$word/" || echo "$word" ;;
    *) echo "$word" ;;
    esac
  done
}

# sanitize TOOL MATRIX... [OPTION...]: every matrix and kernel under one tool, in $jobs processes.  Prints
# what each had to say.
sanitize() {
  local tool=$1 folder=$out/sanitize-$1 failed=0 verdict=clean matrices=() i shards pids=()
  shift
  while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do
    matrices+=("$1")
    shift
  done
  mapfile -t matrices < <(members "${matrices[@]:-set:smoke}")
  rm -rf "$folder"
  mkdir -p "$folder" || return 2
  shards=$((jobs < ${#matrices[@]} ? jobs : ${#matrices[@]}))
  for ((i = 0; i < ${#matrices[@]}; i++)); do
    echo "${matrices[i]}" >>"$folder/$((i % shards)).list"
  done
  for ((i = 0; i < shards; i++)); do
    # shellcheck disable=SC2046  # names of matrices have no blanks
    compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/heddle" check $(cat "$folder/$i.list") \
      --device "$device" "$@" >"$folder/$i.log" 2>&1 &
    pids+=($!)
  done
  for ((i = 0; i < shards; i++)); do
    wait "${pids[i]}" && continue
    failed=1 verdict="NOT clean"
    echo "$(tr '\n' ' ' <"$folder/$i.list") failed:"
    tail -40 "$folder/$i.log"
  done
  for ((i = 0; i < shards; i++)); do
    printf '%s\n   %s\n' "$(tr '\n' ' ' <"$folder/$i.list")" \
      "$(grep -hE 'ERROR SUMMARY|RACECHECK SUMMARY|matri(x|ces).* wrong' "$folder/$i.log" | tr '\n' ' ')"
  done
  echo "$tool: ${#matrices[@]} matrices in $shards processes, $verdict"
  return "$failed"
}

# The set as files: the baseline shall have the very matrices that heddle bench has.
baseline_matrices() {
  local matrix
  mkdir -p "$build/matrices" || return
  for matrix in "$@"; do
    [ -f "$build/matrices/${matrix##*/}.hdl" ] ||
      "$build/heddle" convert "$matrix" "$build/matrices/${matrix##*/}.hdl" || return
  done
}

# The baseline prints a line per matrix and type; baseline.awk puts the two side by side.  What takes 10
# microseconds takes half of one more or less in the next process, so both run twice more without the four
# largest matrices, which come last, for the median of three.
baseline_kernels() {
  local matrix pass files=()
  for matrix in "$@"; do
    files+=("${matrix##*/}=$build/matrices/${matrix##*/}.hdl")
  done
  for pass in 1 2 3; do
    "$build/baseline" $((4608 * pass)) "${files[@]}" || return
    files=("${files[@]:0:16}")
  done | tee "$out/baseline.txt"
  return "${PIPESTATUS[0]}"
}

baseline_heddle() {
  local op=$1 kernels=$2 peers=$3 pass status=0
  shift 3
  for pass in 1 2 3; do
    "$build/heddle" bench "$@" --device "$device" --type f32,f64 --op "$op" --peer "$peers" \
      --kernel "$kernels" --time-limit 0.05 \
      --json "$out/baseline-$op-$pass.jsonl" --fresh || status=$?
    set -- "${@:1:16}"
  done
  return "$status"
}

baseline_build() {
  nvcc -O3 -std=c++17 -arch=native bench/baseline.cu -lcusparse -o "$build/baseline"
}

baseline() {
  local matrices peers=cusparse:csr_alg1,cusparse:csr_alg2,cusparse:coo_alg1,cusparse:coo_alg2
  mapfile -t matrices < <(members set:baseline)
  [ "${1:-}" != small ] || matrices=("${matrices[@]:0:16}")
  step baseline-build baseline_build || return
  step baseline-matrices baseline_matrices "${matrices[@]}" || return
  step baseline-kernels baseline_kernels "${matrices[@]}" || return
  step baseline-heddle-N baseline_heddle N \
    "csr_naive,csr_vector$(printf ',csr_vector:lanes=%d' 2 4 8 16 32)" "$peers" \
    "${matrices[@]}"
  step baseline-heddle-T baseline_heddle T csr_naive_t "$peers" "${matrices[@]}"
  step baseline awk -f bench/baseline.awk "$out/baseline.txt" "$out"/baseline-[NT]-[123].jsonl
}

# What matters here is latency, so that all is timed three times.
plain() {
  local matrix name pass files=() named=()
  [ $# -gt 0 ] || { echo "plain needs matrices"; return 2; }
  [ -x "$build/baseline" ] || baseline_build || return
  mkdir -p "$build/matrices" || return
  for matrix in "$@"; do
    name=${matrix##*/} name=${name%%.*}
    "$build/heddle" convert "$matrix" "$build/matrices/$name.hdl" >>"$log" 2>&1 || return
    files+=("$build/matrices/$name.hdl") named+=("$name=$build/matrices/$name.hdl")
  done
  : >"$out/plain.txt"
  for pass in 1 2 3; do
    "$build/baseline" $((4608 * pass)) "${named[@]}" >>"$out/plain.txt" || return
    "$build/heddle" bench "${files[@]}" --device "$device" --type f32,f64 --op N --kernel auto \
      --time-limit 0.005 \
      --json "$out/plain-$pass.jsonl" --fresh >>"$log" 2>&1 || return
  done
  awk -f bench/plain.awk "$out/plain.txt" "$out"/plain-[123].jsonl
}

# "smoke" to "set:smoke"; options, files, families and sets that are spelled out stay as they are.
spell() {
  case $1 in
  -* | *:* | */* | *.*) echo "$1" ;;
  *) [ "$taken" = option ] && echo "$1" || echo "set:$1" ;;
  esac
}

# The records stay in the build, so that RESUME=1 goes on with them.
reproduce() {
  local code
  # shellcheck disable=SC2086  # nothing, or one word
  "$build/heddle" reproduce "$@" --device "$device" --json "$build/reproduce.jsonl" -o "$out/reproduce" $fresh
  code=$?
  cp "$build/reproduce.jsonl" "$out/" || return 2
  return "$code"
}

# run ACTION WORDS...
run() {
  local action=$1 words=() word taken=matrix tool label
  shift
  for word in "$@"; do
    words+=("$(spell "$word")")
    case $word in -*) taken=option ;; *) taken=matrix ;; esac
  done
  label=$action-$(tr -c 'a-zA-Z0-9\n' - <<<"${1:-all}")
  case $action in
  test) step test run_tests "$@" ;;
  reproduce) step reproduce reproduce "$@" ;;
  baseline) baseline "$@" ;;
  plain) step plain plain "$@" ;;
  check) step "$label" "$build/heddle" check "${words[@]}" --device "$device" ;;
  bench) # shellcheck disable=SC2086  # nothing, or one word
    step "$label" "$build/heddle" bench "${words[@]}" --device "$device" --json "$out/$label.jsonl" $fresh ;;
  sanitize)
    command -v compute-sanitizer >/dev/null || { table+=("sanitize: compute-sanitizer is not here"); return; }
    for tool in memcheck racecheck initcheck; do
      step "$label-$tool" sanitize "$tool" "${words[@]}"
    done
    ;;
  esac
}

step configure configure || finish
step build cmake --build "$build" -j "$jobs" || finish
step devices "$build/heddle" devices
device=${DEVICE:-$("$build/heddle" devices | grep -oE '^ *(cuda|hip):[0-9]+' | head -1 | tr -d ' ')}
[ -n "$device" ] || { echo "there is no GPU here; DEVICE=emu would use the emulator" >&2; worst=1; finish; }
"$build/heddle" kernels --resources >"$out/resources.txt" 2>/dev/null || rm -f "$out/resources.txt"

action="" words=()
for word in "$@"; do
  case $word in
  test | check | bench | sanitize | baseline | plain | reproduce)
    [ -z "$action" ] || run "$action" "${words[@]}"
    action=$word words=()
    ;;
  *)
    [ -n "$action" ] || {
      echo "gpu.sh: '$word' does not follow test, check, bench, sanitize, baseline, plain or reproduce" >&2
      exit 2
    }
    words+=("$word")
    ;;
  esac
done
[ -z "$action" ] || run "$action" "${words[@]}"
finish
