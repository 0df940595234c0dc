#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What noise does to numbers, and what numbers say of it: bash tests/noise.sh BUILD_DIR SOURCE_DIR.
# Comparisons are of records with times that were made up, because a real machine gives no test twice.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-noise-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$source/tests/verdict.bash"
export NO_COLOR=1 LC_ALL=C.UTF-8 OMP_NUM_THREADS=1
cd "$work" || exit 2
heddle() { "$build/heddle" "$@"; }

heddle bench gen:diagonal:n=3000 --device cpu --kernel auto --no-cold --time-limit 0.01 \
    --json one.jsonl >out 2>&1
grep '"record":"run"' one.jsonl >run
made() { # made FILE MEDIAN LEAST SPREAD REPETITIONS
    sed "s/\"warm_ms\":[^,]*/\"warm_ms\":$2/;s/\"warm_min_ms\":[^,]*/\"warm_min_ms\":$3/
         s/\"spread\":[^,]*/\"spread\":$4/;s/\"repetitions\":[^,]*/\"repetitions\":$5/" run >"$1"
}
compared() { # compared NAME STATUS WORDS ARGUMENTS...: compare exits with STATUS and says WORDS
    local name=$1 wanted=$2 words=$3
    shift 3
    heddle compare old.jsonl new.jsonl "$@" >said 2>&1
    local rc=$?
    verdict "$name" \
        "$([ $rc -eq "$wanted" ] && grep -qF -- "$words" said || echo "status $rc: $(head -c 400 said)")"
}

made old.jsonl 1 1 0.02 20
made new.jsonl 7.5 7.5 0 1
compared 'one repetition proves nothing, however slow' 0 '0 slower, 0 faster'
compared 'and it is said' 0 'fewer than 3 repetitions'
compared 'so it fails nothing' 0 '0 slower' --fail 1
made new.jsonl 7.5 1.01 0.02 20
compared 'a median that moved while the shortest time did not is noise' 0 '0 slower' --fail 1
made new.jsonl 1.3 1.2 0.2 20
made old.jsonl 1 1 0.1 20
compared 'a change within the spread of both is noise' 0 '0 slower' --fail 1
made old.jsonl 1 0.98 0.02 20
made new.jsonl 1.3 1.25 0.03 20
compared 'what is beyond both counts' 0 '1 slower, 0 faster'
compared 'and fails beyond the percentage' 1 'failed: 1 time is slower by more than 25 %' --fail 25
compared 'but not below it' 0 '1 slower' --fail 35
made new.jsonl 0.7 0.69 0.03 20
compared 'what is faster never fails' 0 '0 slower, 1 faster' --fail 0
compared 'a percentage that is none is refused' 2 '--fail lots' --fail lots

# The table, and the machine.
verdict 'the table has a column for the scatter' "$(head -n 5 out | grep -qE ' ms +± ' || head -n 5 out)"
# The whole of it needs a machine with something to do: as many busy loops as there are processors, ended by
# their own ids.
busy=()
for _ in $(seq "$(nproc)"); do
    (while :; do :; done) &
    busy+=($!)
done
heddle bench gen:grid2d:n=300 --device cpu --kernel auto,plan --no-cold --time-limit 0.4 >loud 2>&1
kill "${busy[@]}" && wait "${busy[@]}" 2>/dev/null
verdict 'a busy machine is warned of' \
    "$(grep -q 'warning: the machine was not quiet: other programs kept' loud || tail -n 5 loud)"
verdict 'records say how busy others were' \
    "$(grep -q '"others_busy":[0-9]' run || grep -q '"others_busy":null' run || head -c 900 run)"

# Floors.
heddle bench gen:grid3d:n=12,dof=3 --device cpu --kernel cpu_csr,cpu_group,cpu_sell --no-cold \
    --time-limit 0.02 --json f.jsonl >/dev/null 2>&1
own() { grep "\"kernel\":\"$1\"" f.jsonl | sed -n 's/.*"own_bytes":\([0-9.e+]*\).*/\1/p'; }
csr() { grep "\"kernel\":\"$1\"" f.jsonl | sed -n 's/.*"bytes":\([0-9.e+]*\),"read_gbs.*/\1/p'; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 > 0 && a + 0 < b + 0) }'; }
verdict 'CSR reads the bytes of CSR' \
    "$([ "$(own cpu_csr)" = "$(csr cpu_csr)" ] || echo "$(own cpu_csr), not $(csr cpu_csr)")"
verdict 'rows that share their columns read fewer' \
    "$(less "$(own cpu_group)" "$(csr cpu_group)" || own cpu_group)"
verdict 'and so do columns of 16 bits' "$(less "$(own cpu_sell)" "$(csr cpu_sell)" || own cpu_sell)"
heddle bench gen:grid2d:n=9 --device emu --kernel auto --no-cold --repetitions 2 --json e.jsonl >emu 2>&1
verdict 'the emulator has no floor' \
    "$(grep -q '"floor_ms":null,"of_floor":null.*"own_floor_ms":null,"of_own_floor":null' e.jsonl &&
    ! grep -q 'memory read at\|of the floor' emu || head -c 400 emu)"
if command -v python3 >/dev/null; then
    sed 's/"of_own_floor":[^,]*/"of_own_floor":0.98/' run >below
    sed 's/"of_own_floor":[^,]*/"of_own_floor":1.2/' run >above
    verdict 'floors.py passes what is below' "$(python3 "$source/bench/floors.py" below >said || cat said)"
    verdict 'floors.py names what is above, and fails' \
        "$(! python3 "$source/bench/floors.py" below above >said &&
            grep -q '^above:1: .*120.0 % of the floor' said || cat said)"
fi

# Instruction sets by the names that people know.
case $(uname -m) in
x86_64) narrowest=sse2 ;;
aarch64) narrowest=neon ;;
*) narrowest=generic ;;
esac
heddle bench gen:diagonal:n=50 --device cpu:isa=generic --kernel auto --no-cold --time-limit 0.01 \
    --json isa.jsonl >said 2>&1
verdict "the narrowest instruction set is called $narrowest" \
    "$(grep -q "\"isa\":\"$narrowest\"" isa.jsonl || head -n 1 said)"
verdict "and is chosen by that name, too" \
    "$(heddle mv gen:diagonal:n=3 --device "cpu:isa=$narrowest" >said 2>&1 || cat said)"
told
