#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the command does to files, and what names may do to the terminal: bash tests/files.sh BUILD_DIR
# SOURCE_DIR.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
export PATH="$build:$PATH" NO_COLOR=1 LC_ALL=C
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-files-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" && cd "$work/here" || exit 1
. "$source/tests/verdict.bash"

run() { # run COMMAND...: status in $rc, output in ../out and ../err
    "$@" >"$work/out" 2>"$work/err"
    rc=$?
}
told_of() { # status and output of the last run, for a verdict
    echo "status $rc: $(head -c 300 "$work/out" "$work/err")"
}

heddle gen band:n=30,width=2 -o a.mtx --quiet
fake=$build/tests/fakes/libfake_system.so
# small COMMAND...: on a machine that looks small, where heddle bench needs no second to know how fast memory
# is
small() {
    HEDDLE_FAULT=count LD_PRELOAD=$fake "$@"
}
xz -dc "$source/bench/results/2026-11-15-h200-hyb.jsonl.xz" >hyb.jsonl
records=$PWD/hyb.jsonl
# the writer that is at hand in every build; report uses the same
draw() { heddle convert a.mtx "$@" --quiet; }

# ---------------------------------------------------------------- where output may go
if mknod null.mtx c 1 3 2>/dev/null && [ -c null.mtx ]; then
    run draw null.mtx
    verdict 'a device stays a device' "$([ $rc -eq 0 ] && [ -c null.mtx ] || told_of)"
    mv null.mtx null.html
    run heddle report "$records" -o null.html
    verdict 'for a report, too' "$([ -c null.html ] || told_of)"
    mv null.html null.jsonl
    run small heddle bench a.mtx --kernel cpu_csr --time-limit 0.01 --no-cold --json null.jsonl
    verdict 'records may go to a device' "$([ $rc -eq 0 ] && [ -c null.jsonl ] || told_of)"
    rm null.jsonl
else
    skip 'a device stays a device' 'only root makes devices'
fi
mkfifo pipe.mtx
cat pipe.mtx >through.mtx &
reader=$!
run draw pipe.mtx
wait $reader
verdict 'a pipe is written in place' \
    "$([ $rc -eq 0 ] && [ -p pipe.mtx ] && draw b.mtx && cmp through.mtx b.mtx || told_of)"
mkfifo pipe.jsonl
cat pipe.jsonl >through.jsonl &
reader=$!
run small timeout 60 heddle bench a.mtx --kernel cpu_csr --time-limit 0.01 --no-cold --json pipe.jsonl
wait $reader
verdict 'and takes records' \
    "$([ $rc -eq 0 ] && [ -p pipe.jsonl ] && [ "$(grep -c '"record"' through.jsonl)" -eq 2 ] || told_of)"
rm pipe.*
printf 'before\n' >said.svg
heddle report "$records" --svg figures --quiet >/dev/null
mkdir named && ln -s /dev/stdout named/profile.svg
heddle report "$records" --svg named --quiet >>said.svg
verdict 'standard output under a name is standard output' \
    "$([ -L named/profile.svg ] && [ "$(head -n 1 said.svg)" = before ] && grep -q '</svg>' said.svg ||
        head -c 200 said.svg)"
verdict 'and /dev/stdout is what it was' "$([ -L /dev/stdout ] || ls -l /dev/stdout)"

echo precious >victim
# exec keeps the number of the process, which is in the name of the temporary file
# shellcheck disable=SC2016  # the inner shell expands it
run bash -c 'ln -s victim "c.html.part-$$"; ln -s victim "c.html.$$-0.part"
    exec heddle report "$0" -o c.html' "$records"
verdict 'a link at the name of the temporary file is not followed' \
    "$([ "$(cat victim)" = precious ] || told_of)"
# shellcheck disable=SC2016
run bash -c 'ln -s victim "c.mtx.$$-0.part"; exec heddle convert a.mtx c.mtx' "$records"
verdict 'nor by other writers' \
    "$([ "$(cat victim)" = precious ] && [ $rc -eq 0 ] && cmp c.mtx b.mtx || told_of)"
rm -f c.* victim

mkdir far && echo old >far/real.mtx && ln -s far/real.mtx near.mtx && ln -s near.mtx nearer.mtx &&
    chmod 640 far/real.mtx
run draw nearer.mtx
verdict 'links stay links, and what they lead to is replaced' \
    "$([ -L nearer.mtx ] && [ -L near.mtx ] && [ ! -L far/real.mtx ] && cmp far/real.mtx b.mtx || told_of)"
verdict 'the mode of a file stays' "$([ "$(stat -c %a far/real.mtx)" = 640 ] || stat -c %a far/real.mtx)"
verdict 'nothing is left beside it' "$([ "$(ls far)" = real.mtx ] || ls far)"
ln -s far/none.mtx dangling.mtx
run draw dangling.mtx
verdict 'a link to nothing makes the file it names' \
    "$([ -L dangling.mtx ] && cmp far/none.mtx b.mtx || told_of)"
ln -s loop.mtx loop.mtx
run draw loop.mtx
verdict 'a link to itself is an error' \
    "$([ $rc -eq 2 ] && grep -q 'loop.mtx: cannot follow the link' "$work/err" || told_of)"
mkdir folder.mtx
run draw folder.mtx
verdict 'a folder is an error at once' \
    "$([ $rc -eq 2 ] && grep -q 'folder.mtx: cannot put the file in its place: Is a directory' \
        "$work/err" || told_of)"
if [ "$(id -u)" -ne 0 ]; then
    cp b.mtx protected.mtx && echo no >protected.mtx && chmod 444 protected.mtx
    run draw protected.mtx
    verdict 'a protected file is left alone' "$([ $rc -eq 2 ] && [ "$(cat protected.mtx)" = no ] || told_of)"
else
    skip 'a protected file is left alone' 'root may write everything'
fi

# ---------------------------------------------------------------- records
bench() {
    small heddle bench a.mtx --kernel cpu_csr --repetitions 1 --time-limit 0.01 --no-cold --device cpu "$@"
}
untouched() { # untouched NAME FILE WORDS OPTIONS...: bench refuses to add to it, and it is as it was
    local name=$1 file=$2 words=$3
    shift 3
    cp -p "$file" "$work/copy"
    run bench --json="$file" "$@"
    verdict "$name" "$([ $rc -eq 2 ] && grep -qF "$words" "$work/err" && cmp "$file" "$work/copy" || told_of)"
}
untouched 'a matrix as its own file of records' a.mtx 'ends in .json or .jsonl' --fresh
cp a.mtx matrix.jsonl
untouched 'a matrix under the name of records' matrix.jsonl 'matrix.jsonl:1: this is no record'
untouched 'the same, afresh' matrix.jsonl 'matrix.jsonl:1: this is no record' --fresh
printf 'no end of line' >text.jsonl
untouched 'a text without a line end' text.jsonl 'text.jsonl:1: this is no record'
head -c 3000 /dev/urandom >bytes.jsonl
untouched 'binary data' bytes.jsonl 'this is no record'
printf '{"a":1}\n' >other.json
untouched 'JSON of another kind' other.json 'other.json:1: this is no record' --fresh
{ head -n 2 "$records"; echo 'notes of mine'; } >mixed.jsonl
untouched 'a note among records' mixed.jsonl 'mixed.jsonl:3: this is no record'
{ head -n 1 "$records"; printf 'notes of mine'; } >end.jsonl
untouched 'a note at the end of records' end.jsonl 'end.jsonl:2: this is no record'
: >empty.jsonl
run bench --json empty.jsonl
verdict 'an empty file takes records' "$([ $rc -eq 0 ] && [ "$(wc -l <empty.jsonl)" -eq 2 ] || told_of)"
{ head -n 1 "$records"; head -n 2 "$records" | tail -n 1 | head -c 150; } >half.jsonl
ln -s half.jsonl to-half.jsonl
run bench --json to-half.jsonl
verdict 'half a record at the end is mended, through a link' \
    "$([ $rc -eq 0 ] && [ -L to-half.jsonl ] && [ "$(grep -c '^{.*}$' half.jsonl)" -eq 3 ] &&
        [ "$(wc -l <half.jsonl)" -eq 3 ] || told_of)"
run bench --json half.jsonl --fresh
verdict 'records may be started over' "$([ $rc -eq 0 ] && [ "$(wc -l <half.jsonl)" -eq 2 ] || told_of)"

# ---------------------------------------------------------------- names and the terminal
escape=$(printf '\033') evil=$(printf '\033]0;evil\007\033[2J.mtx') line=$(printf 'two\nlines.mtx')
cp a.mtx "$evil"
cp a.mtx "$line"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 \033[31m1\n' >size.mtx
printf '%%%%MatrixMarket \033[31mgrid coordinate real general\n2 2 1\n' >kind.mtx
for command in "info $evil" "info no-such-$evil" "check $evil --kernel cpu_csr" "convert a.mtx out-$evil" \
    "info $evil --json" \
    "info size.mtx" "info kind.mtx" "info gen:$evil" \
    "bench $evil --kernel cpu_csr --time-limit 0.01 --no-cold" "$evil" "info --$evil"; do
    # shellcheck disable=SC2086  # the words of a command
    run small heddle $command
    verdict "no escape gets through: ${command//$escape/ESC}" "$(grep -l "$escape" "$work/out" "$work/err")"
done
run heddle info "no-such-$evil"
verdict 'it is quoted' "$(grep -qF 'no-such-\x1b]0;evil\x07\x1b[2J.mtx' "$work/err" || told_of)"
run heddle info "no-such-$line"
verdict 'an error is one line' "$([ "$(wc -l <"$work/err")" -eq 1 ] || told_of)"
sed "s/\"kernel\":\"/&\\\\u001b[31m/" "$records" >escapes.jsonl
run heddle compare escapes.jsonl escapes.jsonl
verdict 'nor out of records' "$([ $rc -eq 0 ] && ! grep -q "$escape" "$work/out" "$work/err" || told_of)"

# ---------------------------------------------------------------- sizes
printf '%%%%MatrixMarket matrix coordinate real general\n00000000000000000000000000000000002 2 1\n1 1 1\n' \
    >long.mtx
run heddle info long.mtx
verdict 'a number that is too long is an error, not cut' \
    "$([ $rc -eq 2 ] && grep -q 'long.mtx:2: expected the number of rows' "$work/err" || told_of)"
printf '%%%%MatrixMarket matrix coordinate real general\n130000000 1 1\n1 1 1\n' >x.mtx
run heddle mv a.mtx --x x.mtx
verdict 'a small file with a huge vector is refused' \
    "$([ $rc -eq 2 ] && grep -q 'takes 1.04 GB, but the file has only' "$work/err" || told_of)"
run heddle mv a.mtx --x x.mtx --large
verdict 'unless that is meant' \
    "$([ $rc -eq 2 ] && grep -q 'x.mtx: has 130000000 numbers' "$work/err" || told_of)"
awk 'BEGIN { printf "{\"schema\":1,\"record\":\"run\""
             for (i = 0; i < 200000; i++) printf ",\"member%d\":%d", i, i
             print "}" }' >keys.jsonl
run timeout 20 heddle compare keys.jsonl keys.jsonl
verdict 'a record of 200,000 members is read at once' "$([ $rc -ne 124 ] || told_of)"
if [ -c /dev/zero ]; then
    run timeout 120 heddle report /dev/zero --svg figures
    verdict 'records without an end are refused' \
        "$([ $rc -eq 2 ] && grep -q '/dev/zero: a line is longer than 64 MB' "$work/err" || told_of)"
fi

told
