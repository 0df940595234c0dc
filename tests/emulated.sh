#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the emulator takes is no measurement: its runs show times, but neither rates nor shares of a floor nor
# speed-ups, say once why, and leave them out of records, which a report still reads.
set -u
build=$(cd "$1" && pwd) source=$(cd "${2:-.}" && pwd) work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
. "$source/tests/verdict.bash"
export NO_COLOR=1 LC_ALL=C
bench() {
  "$build/heddle" bench gen:grid2d:n=12 --kernel auto,plan,auto:deterministic=1 --time-limit 0.01 \
    --no-cold "$@" 2>&1
}
nulls() { grep -c '"read_gbs":null.*"floor_ms":null,"of_floor":null.*"gflops":null,"gbs":null' "$1"; }

bench --device emu --json emu.jsonl >emu.txt
verdict 'a bench on the emulator works' "$(grep -q '^3 runs: 3 verified, 0 wrong, 0 skipped$' emu.txt ||
  cat emu.txt)"
verdict 'it says once why rates are left out' \
  "$([ "$(grep -c "say nothing of a GPU: .* left out" emu.txt)" -eq 1 ] || cat emu.txt)"
verdict 'no row has a rate or a share' \
  "$(grep -E '^grid2d' emu.txt | grep -vE '[a-z0-9=] +[0-9.]+ +[0-9]+ % +yes$')"
verdict 'there are no speed-ups and no means' \
  "$(grep -E 'times as fast|times the time|geometric|determinism costs' emu.txt)"
verdict 'records have no rates' "$([ "$(nulls emu.jsonl)" -eq 3 ] || cat emu.jsonl)"
verdict 'a report reads them' "$("$build/heddle" report emu.jsonl --svg figures 2>&1 >/dev/null | head -3)"

bench --device cpu --json cpu.jsonl >cpu.txt
verdict 'a CPU has all of it' \
  "$(grep -q 'GFLOP/s, .* of the floor' cpu.txt && grep -q 'determinism costs' cpu.txt &&
  [ "$(nulls cpu.jsonl)" -eq 0 ] || cat cpu.txt)"
told
