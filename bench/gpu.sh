#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# gpu.sh: builds Heddle for the GPU of this machine, NVIDIA or AMD, and runs what the arguments ask for:
#
#   bench/gpu.sh                                   build, and say what is here
#   bench/gpu.sh test                              the test programs
#   bench/gpu.sh check smoke paper                 heddle check set:smoke set:paper on the device
#   bench/gpu.sh sanitize smoke                    the same under compute-sanitizer: memcheck, racecheck, initcheck
#   bench/gpu.sh bench set:baseline --type f64     heddle bench; words that begin with - and what follows go to heddle
#   bench/gpu.sh check smoke bench smoke paper     several, in order
#
# A matrix is whatever heddle takes; a bare word that names a set may go without set:.  Into ${OUT:-.} are written: gpu.log
# with all output, resources.txt, and the records of each bench as bench-MATRIX.jsonl.  The last lines are a table of the
# steps; the exit status is that of the worst.  In the environment: DEVICE (the first GPU), BUILD (build-gpu), CMAKE_ARGS,
# JOBS, RESUME (not empty: a bench goes on where its records end), and HEDDLE_MODULE_DIR, which loads device binaries from files
# instead of those that were built here.
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

run_tests() {
  local program said failed=0
  for program in "$build"/tests/test_*; do
    { [ -f "$program" ] && [ -x "$program" ]; } || continue
    said=$("$program" 2>&1) || { failed=1; echo "$said"; }
    printf '%-28s %s\n' "$(basename "$program")" "$(tail -1 <<<"$said")"
  done
  return "$failed"
}

# "smoke" to "set:smoke"; options, files, families and sets that are spelled out stay as they are.
spell() {
  case $1 in
  -* | *:* | */* | *.*) echo "$1" ;;
  *) [ "$taken" = option ] && echo "$1" || echo "set:$1" ;;
  esac
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
  test) step test run_tests ;;
  check) step "$label" "$build/heddle" check "${words[@]}" --device "$device" ;;
  bench) # shellcheck disable=SC2086  # nothing, or one word
    step "$label" "$build/heddle" bench "${words[@]}" --device "$device" --json "$out/$label.jsonl" $fresh ;;
  sanitize)
    command -v compute-sanitizer >/dev/null || { table+=("sanitize: compute-sanitizer is not here"); return; }
    for tool in memcheck racecheck initcheck; do
      step "$label-$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$build/heddle" check "${words[@]}" --device "$device"
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
  test | check | bench | sanitize)
    [ -z "$action" ] || run "$action" "${words[@]}"
    action=$word words=()
    ;;
  *)
    [ -n "$action" ] || { echo "gpu.sh: '$word' does not follow test, check, bench or sanitize" >&2; exit 2; }
    words+=("$word")
    ;;
  esac
done
[ -z "$action" ] || run "$action" "${words[@]}"
finish
