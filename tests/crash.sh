#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every command that writes, killed and on a full disk at random moments: bash tests/crash.sh BUILD_DIR
# SOURCE_DIR [MOMENTS].  Afterwards the file is the old one or the new one, byte for byte, and nothing lies
# beside it but one temporary file at most; of records, which grow by lines, only the last line may be
# incomplete, and the next run mends it.  MOMENTS (8, with HEDDLE_SLOW_TESTS 200) of kill -9, half of them in
# a write and half before a call, as many of the full disk, a tenth of SIGTERM.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
moments=${3:-${HEDDLE_SLOW_TESTS:+200}}
moments=${moments:-8}
fake=$build/tests/fakes/libfake_system.so
export PATH="$build:$PATH" NO_COLOR=1 LC_ALL=C OMP_NUM_THREADS=1
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-crash-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" && cd "$work/here" || exit 1
. "$source/tests/verdict.bash"
RANDOM=${SEED:-$(date +%j)}

faulty() { # faulty FAULT COMMAND...: the command with that fault; its status in $rc
    HEDDLE_FAULT=$1 HEDDLE_FAULT_LOG=$work/log LD_PRELOAD=$fake "${@:2}" >"$work/out" 2>"$work/err"
    rc=$?
} 2>/dev/null # bash tells of each process that is killed
random() { # random N: an integer in 0..N-1, for N up to 2^30
    echo $(((RANDOM * 32768 + RANDOM) % ($1 > 0 ? $1 : 1)))
}
same() { # same FILE OTHER: but for the minute at which a page was made
    cmp -s "$1" "$2" ||
        { [[ $1 = *.html ]] && cmp -s <(sed 's/"made":"[^"]*"//' "$1") <(sed 's/"made":"[^"]*"//' "$2"); }
}

# What is wrong with out/ beside old/ and new/; PARTS temporary files are allowed.
broken() { # broken PARTS
    local file name parts=0
    for file in out/*; do
        name=${file#out/}
        case $name in
        *.part) parts=$((parts + 1)) ;;
        *)
            same "$file" "old/$name" || same "$file" "new/$name" ||
                echo "$name is neither the old nor the new file;"
            ;;
        esac
    done
    for file in old/*; do
        [ -e "out/${file#old/}" ] || echo "${file#old/} is gone;"
    done
    [ "$parts" -le "$1" ] || echo "$parts temporary files"
}
again() { # out/ as it was before
    rm -rf out && cp -r old out
}

survives() { # survives NAME COMMAND...: writes to out/, where older files of the same names lie
    local name=$1 bytes calls i problem='' killed=0
    shift
    rm -rf old new out && mkdir out
    "$@" >/dev/null 2>"$work/err" || { verdict "$name runs" "$(cat "$work/err")"; return; }
    mv out new && cp -r new old
    for i in old/*; do echo "what was here before" >"$i"; done
    again
    faulty count "$@"
    read -r bytes calls <"$work/log"
    verdict "$name: a whole run gives new files by calls that are watched" \
        "$([ $rc -eq 0 ] && [ "$bytes" -gt 0 ] && [ "$calls" -gt 3 ] ||
            echo "status $rc, $bytes bytes, $calls calls"; broken 0)"
    for ((i = 0; i < (moments + 1) / 2 && ${#problem} == 0; i++)); do
        again && faulty "kill-byte:$(random "$bytes")" "$@"
        killed=$((killed + (rc == 137)))
        problem=$(broken 1)
    done
    verdict "$name: killed in the midst of a write" "$problem$([ "$killed" -eq "$i" ] ||
        echo "it was killed $killed of $i times")"
    problem=''
    for ((i = 0; i < (moments + 1) / 2 && ${#problem} == 0; i++)); do
        again && faulty "kill-call:$((1 + $(random "$calls")))" "$@"
        problem=$(broken 1)
    done
    verdict "$name: killed before a call" "$problem"
    problem=''
    for ((i = 0; i < (moments + 9) / 10 && ${#problem} == 0; i++)); do
        again && faulty "term-byte:$(random "$bytes")" "$@"
        problem=$(broken 0)$([ $rc -eq 143 ] || echo "; exit status $rc")
    done
    verdict "$name: ended by SIGTERM leaves nothing behind" "$problem"
    problem=''
    for ((i = 0; i < moments && ${#problem} == 0; i++)); do
        again && faulty "full-byte:$(random "$bytes")" "$@"
        problem=$(broken 0)$([ $rc -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
            grep -q 'No space left' "$work/err" ||
            echo "; exit status $rc: $(cat "$work/err")")
    done
    verdict "$name: on a full disk" "$problem"
}

heddle gen band:n=300,width=3 -o a.mtx --quiet || exit 1
survives 'gen' heddle gen band:n=300,width=3 -o out/a.mtx
for ending in mtx.gz rb rb.gz hdl; do
    survives "convert to $ending" heddle convert a.mtx "out/b.$ending"
done
survives 'mv' heddle mv a.mtx -o out/y.mtx
survives 'mv to plain text' heddle mv a.mtx -o out/y.txt.gz
xz -dc "$source/bench/results/2026-11-15-h200-hyb.jsonl.xz" >"$work/hyb.jsonl"
records=$work/hyb.jsonl
if heddle version | grep -q 'reports: d3'; then
    survives 'report' heddle report "$records" -o out/page.html
fi
survives 'report --svg' heddle report "$records" --svg out
survives 'reproduce' heddle reproduce naive-fig2 --from "$records" -o out

# ---------------------------------------------------------------- records
bench() { # bench FAULT: one run that adds a description and two records to r.jsonl
    faulty "$1" heddle bench a.mtx --kernel cpu_csr,cpu_coo --repetitions 1 --time-limit 0.001 --no-cold \
        --device cpu:threads=1 --json r.jsonl
}
whole_lines() { # whole_lines FILE: what is wrong with the lines that have an end
    local lines
    lines=$(wc -l <"$1")
    [ "$(head -n "$lines" "$1" | grep -c '^{"schema":1,"record":".*}$')" -eq "$lines" ] ||
        echo 'a line is no record;'
    [ -z "$(tail -n +$((lines + 1)) "$1" | head -c 5 | tr -d '{"sche')" ] ||
        echo 'the last line does not begin as a record;'
    [ "$lines" -ge 1 ] && [ "$(head -n 1 "$1")" = "$(head -n 1 before.jsonl)" ] || echo 'an old line is gone;'
}
head -n 1 "$records" >before.jsonl
cp before.jsonl r.jsonl
bench count
read -r bytes calls <"$work/log"
verdict 'bench adds its records' "$([ $rc -eq 0 ] && [ "$(wc -l <r.jsonl)" -eq 4 ] || cat "$work/err")"
problem=''
for way in kill-byte kill-call full-byte; do
    for ((i = 0; i < (moments + 1) / 2 && ${#problem} == 0; i++)); do
        cp before.jsonl r.jsonl
        [ $way = kill-call ] && most=$calls || most=$bytes
        bench "$way:$((1 + $(random "$most")))"
        problem=$(whole_lines r.jsonl)
        [ $way != full-byte ] || [ $rc -eq 0 ] || { [ $rc -eq 2 ] && [ -z "$(tail -c 1 r.jsonl)" ]; } ||
            problem="$problem status $rc or half a line on a full disk: $(cat "$work/err")"
        bench count
        problem=$problem$([ $rc -eq 0 ] && [ "$(wc -l <r.jsonl)" -eq 4 ] && whole_lines r.jsonl &&
            [ -z "$(tail -c 1 r.jsonl)" ] ||
            echo "the next run does not mend it: status $rc, $(wc -l <r.jsonl) lines")
        # shellcheck disable=SC2012  # names of this script's own
        [ "$(ls | tr '\n' ' ')" = 'a.mtx before.jsonl new old out r.jsonl ' ] ||
            problem="$problem something was left: $(ls | tr '\n' ' ')"
    done
    verdict "bench: $way" "$problem"
    problem=''
done

# ---------------------------------------------------------------- memory The padded rows of an arrow take
# more than its own arrays: between the two there is memory for one and not for the other.
faulty memory:1000000 heddle check gen:arrow:n=20000 --kernel cpu_csr,cpu_sell:slice=8,window=1 \
    --type f64 --op N
verdict 'check does not succeed when a kernel was skipped for want of memory' \
    "$([ $rc -eq 2 ] && grep -q '1 of 2 combinations verified, 0 wrong, 1 skipped' "$work/out" &&
        grep -q 'for want of memory' "$work/err" || echo "status $rc: $(cat "$work/out" "$work/err")")"

told
