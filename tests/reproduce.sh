#!/bin/bash
# SPDX-License-Identifier: MIT
#
# heddle reproduce: bash tests/reproduce.sh BUILD_DIR SOURCE_DIR.  Every table and figure of the papers is
# there; small experiments run on the emulator and the CPU, go on where they stopped, and are drawn again from
# their records alone.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
export PATH="$build:$PATH" NO_COLOR=1 LC_ALL=C ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-reproduce-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$source/tests/verdict.bash"
says() { # says NAME STATUS WORDS COMMAND...
    local name=$1 status=$2 words=$3 rc
    shift 3
    "$@" >out 2>err
    rc=$?
    verdict "$name" "$({ [ $rc -eq "$status" ] && cat out err | grep -qF -- "$words"; } ||
        { echo "status $rc:" && tail -n 3 out err; })"
}

wanted=$(echo naive-fig{2,3} ellpack-table1 ellpack-fig{4..6} hola-table{2,3} hola-fig{4..13} \
    ginkgo-fig{3..16} | tr ' ' '\n')
listed=$(heddle reproduce --list | tail -n +2 | cut -d' ' -f1)
verdict 'every table and figure is listed' "$(diff <(sort <<<"$wanted") <(sort <<<"$listed"))"
verdict 'completion knows them' \
    "$(diff <(sort <<<"$wanted") <(heddle complete experiments | grep -v '^all$' | sort))"
says 'an unknown name says what was meant' 2 "did you mean 'hola-fig7'" heddle reproduce hola-fgi7
says 'a name that is near none points to the list' 2 'heddle reproduce --list' heddle reproduce xyzzy
says 'no name at all, too' 2 'heddle reproduce --list' heddle reproduce
says 'a type that there is not' 2 'f32 or f64' heddle reproduce hola-fig7 --type f16
verdict 'which leave nothing behind' "$([ ! -e reproduce ] || ls reproduce)"

# Sizes of arrays, the emulator against a core of the host, the paper's numbers beside.
tiny=(--device emu --most 300 --time-limit 0.002 -o emulated)
says 'experiments run on the emulator' 0 ' 0 wrong' heddle reproduce hola-fig9 ellpack-fig6 "${tiny[@]}"
verdict "the paper's number stands beside" \
    "$(grep -q '(0.002)' out && grep -q '(13.1)' out || grep average out)"
says 'another that needs the same runs measures none' 0 'runs: 0 measured now' heddle reproduce hola-fig8 \
    "${tiny[@]}"
head -c -200 emulated/records.jsonl >cut && cp cut emulated/records.jsonl
says 'a run that was cut short goes on' 0 'runs: 1 measured now' heddle reproduce ellpack-fig6 "${tiny[@]}"
verdict 'a page links its drawing and says what differs' \
    "$(grep -q '](hola-fig9.svg)' emulated/hola-fig9.md &&
        grep -q 'overwrite the original' emulated/hola-fig9.md || cat emulated/hola-fig9.md)"
verdict 'the folder has its contents' \
    "$(grep -q '(ellpack-fig6.md)' emulated/README.md || cat emulated/README.md)"
says 'records alone suffice' 0 'again/hola-fig9.svg' heddle reproduce hola-fig9 \
    --from emulated/records.jsonl --most 300 -o again
verdict 'and give the same drawing' "$(cmp emulated/hola-fig9.svg again/hola-fig9.svg)"
sed 's/"device":"[^"]*"/"device":"AMD Radeon VII"/; s/"driver":"emu"/"driver":"hip"/' \
    emulated/records.jsonl >amd.jsonl
says 'records of an AMD GPU give a panel' 0 'again/hola-fig9-amd-radeon-vii.svg' \
    heddle reproduce hola-fig9 --from emulated/records.jsonl --with amd.jsonl --most 300 -o again
says 'an experiment about AMD says what it lacks' 0 '--with FILE' \
    heddle reproduce ginkgo-fig15 ginkgo-fig16 --from emulated/records.jsonl -o again
says 'a file of records that is not there' 2 'nosuch.jsonl' heddle reproduce hola-fig9 \
    --from nosuch.jsonl -o again
says 'experiments run on the CPU' 0 ' 0 wrong' \
    heddle reproduce ginkgo-fig5 hola-fig6 --type f64 --device cpu --most 900 --time-limit 0.002 -o processor
verdict 'with the kernel behind the label' "$(grep -q 'basic CSR: cpu_csr' out || head -20 out)"

if python=$(command -v python3); then
    for drawing in emulated/*.svg again/*.svg processor/*.svg; do
        verdict "$drawing is XML" \
            "$("$python" -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$drawing" 2>&1)"
    done
    verdict 'records are valid' \
        "$("$python" "$source/tests/schema.py" "$source/docs/record.schema.json" emulated/records.jsonl \
        processor/records.jsonl >said 2>&1 || cat said)"
fi
told
