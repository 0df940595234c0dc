#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What means the same everywhere: bash tests/usage.sh BUILD_DIR SOURCE_DIR.  --json in every command, a MATRIX
# in all its spellings, and a manual that has every option of --help.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-usage-XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$source/tests/verdict.bash"
export NO_COLOR=1 LC_ALL=C.UTF-8 OMP_NUM_THREADS=1
cd "$work" || exit 2
heddle() { "$build/heddle" "$@"; }
says() { # says NAME STATUS WORDS COMMAND...: exit status and words on either output
    local name=$1 wanted=$2 words=$3
    shift 3
    "$@" >out 2>err
    local rc=$?
    verdict "$name" "$([ $rc -eq "$wanted" ] && cat out err | grep -qF -- "$words" ||
        echo "status $rc: $(head -c 300 out) $(head -c 300 err)")"
}

heddle gen grid2d:n=6 -o a.mtx -q
heddle gen diagonal:n=4 -o b.mtx -q
quick=(--device cpu --kernel auto --no-cold --time-limit 0.001)
heddle bench a.mtx "${quick[@]}" --json r.jsonl >/dev/null 2>&1

# --json: standard output, or a file that says so by its name.
for command in 'devices' 'kernels' 'kernels --options' 'gen --list' 'info a.mtx' 'check a.mtx --kernel auto' \
    'compare r.jsonl r.jsonl --all' \
    "bench b.mtx ${quick[*]}"; do
    # shellcheck disable=SC2086
    heddle $command --json >flag 2>err
    verdict "$command --json writes JSON to standard output" \
        "$(head -c 1 flag | grep -q '{' || head -c 200 flag err)"
    # shellcheck disable=SC2086
    heddle $command --json - >dash 2>err
    verdict "$command --json - does, too" "$(head -c 1 dash | grep -q '{' || head -c 200 dash err)"
    rm -f to.jsonl
    # shellcheck disable=SC2086
    heddle $command --json to.jsonl >rest 2>err
    verdict "$command --json FILE writes a file, and no JSON beside it" \
        "$(head -c 1 to.jsonl | grep -q '{' && ! grep -q '^{' rest || head -c 200 rest err)"
done
says 'a file of JSON has its ending' 2 'ends in .json' heddle info a.mtx --json=report

# Matrices.
says 'info takes several' 0 'diagonal:n=4' heddle info a.mtx gen:diagonal:n=4
verdict 'and tells each' \
    "$([ "$(heddle info a.mtx b.mtx set:smoke/band --json | grep -c '"nnz"')" -eq 3 ] || echo no)"
says 'a matrix may come from standard input' 0 '"nnz":' heddle info - --json <a.mtx
verdict 'and is the same' "$([ "$(gzip -c a.mtx | heddle mv -)" = "$(heddle mv a.mtx)" ] || echo no)"
mkdir mine && cp a.mtx mine/first.mtx && gzip -c b.mtx >mine/second.mtx.gz
says 'set:DIR/MEMBER is one file of a directory' 0 'mine/second.mtx.gz' heddle info set:mine/second
says 'with its endings, too' 0 'mine/first.mtx' heddle info "set:$work/mine/first.mtx"
says 'a member that is not there is told' 2 "no matrix file 'third'" heddle info set:mine/third
says 'set: without a name is not set::' 2 "'set:' needs a name" heddle info set:

# One line for a library that the device cannot have.
heddle bench a.mtx "${quick[@]}" --peer cusparse >out 2>err
verdict 'a peer of another kind of device is one line' \
    "$([ "$(grep -c 'skipped: cusparse computes on cuda' out)" -eq 1 ] || cat out)"

# Cosmetics.
verdict 'the list of commands stands in columns' \
    "$(heddle help | sed '/^A MATRIX/,$d' | grep -E '^  heddle [a-z]+ ' |
        sed -E 's/^(  heddle [a-z]+ +).*/\1/' | awk '{ print length }' |
    sort -u | wc -l | grep -vx 1)"
says 'a size that cannot be had is readable' 2 'TB' heddle gen dense:rows=3000000,cols=3000000 -o c.hdl

# Completion: behind commas, and in three shells whose files ask the command for every list.
words() { # words WORD...: what bash offers for the last one
    bash -c 'heddle() { "'"$build"'/heddle" "$@"; }; . "'"$source"'/scripts/heddle.bash"
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heddle; printf "%s\n" "${COMPREPLY[@]}"' bash \
            "$@" 2>/dev/null
}
verdict 'a kernel is completed behind a comma' \
    "$([ "$(words heddle bench a.mtx --kernel auto,cpu_me)" = auto,cpu_merge ] ||
        words heddle bench a.mtx --kernel auto,cpu_me)"
verdict 'so is a type' "$([ "$(words heddle bench a.mtx --type f32,f6)" = f32,f64 ] || echo no)"
for list in commands kernels families sets members devices peers experiments; do
    verdict "the command knows $list" "$([ -n "$(heddle complete $list)" ] || echo nothing)"
    for file in heddle.bash _heddle heddle.fish; do
        verdict "$file asks for $list" "$(grep -q "heddle complete $list" "$source/scripts/$file" || echo no)"
    done
done
lists=$(grep -ohE 'heddle complete [a-z]+' "$source"/scripts/{heddle.bash,_heddle,heddle.fish} | sort -u |
    sed 's/heddle complete //')
verdict 'and no file asks for a list that is not there' \
    "$(for list in $lists; do [ "$list" = options ] || heddle complete "$list" >/dev/null 2>&1 ||
        echo "$list"; done)"
PATH=$build:$PATH
if command -v zsh >/dev/null; then
    verdict 'zsh reads its file' "$(zsh -n "$source/scripts/_heddle" 2>&1)"
fi
if command -v fish >/dev/null; then
    fish_says() { HOME=$work fish -c "source $source/scripts/heddle.fish; complete -C '$1'" 2>&1; }
    verdict 'fish completes a command' \
        "$(fish_says 'heddle ben' | grep -q '^bench' || fish_says 'heddle ben')"
    verdict 'fish completes a kernel behind a comma' \
        "$(fish_says 'heddle bench a.mtx --kernel auto,cpu_me' | grep -q 'auto,cpu_merge' ||
            fish_says 'heddle bench a.mtx --kernel auto,cpu_me')"
    verdict 'fish completes an option' "$(fish_says 'heddle bench --time' | grep -q '^--time-limit' ||
        fish_says 'heddle bench --time')"
fi

# The manual: every command, every option, with its letter.
man=$(sed 's/\\-/-/g; s/\\f[BIR]//g; s/\\(bu//g' "$source/docs/heddle.1")
# What all commands take is told once, before the first of them.
common=$(heddle version --help | sed -n '/^Options:/,$p' | grep -oE -- '--[a-z-]+|-[a-z]\b' | grep . |
    paste -sd'|')
preface=$(sed -n '/^\.SH COMMANDS/,/^\.SS/p' <<<"$man")
verdict 'the manual has what all commands take' \
    "$(tr '|' '\n' <<<"$common" | while read -r option; do grep -qF -- "$option" <<<"$preface" ||
        echo "$option"; done)"
for command in $(heddle complete commands); do
    part=$(awk -v c="heddle $command" \
        'index($0, ".SS " c) == 1 { on = 1; print; next } /^\.S[SH]/ { on = 0 } on' <<<"$man")
    verdict "the manual has $command" "$([ -n "$part" ] || echo 'no section')"
    missing=''
    while read -r option; do
        grep -qE -- "$option([^a-z-]|\$)" <<<"$part" || missing="$missing $option"
    done < <(heddle "$command" --help | sed -n '/^Options:/,$p' | grep -oE '^ +(-[a-z], )?--[a-z-]+' |
        grep -oE -- '--[a-z-]+|-[a-z]\b' |
        grep -vxE -- "$common")
    verdict "and every option of $command" "$missing"
done
told
