# SPDX-License-Identifier: MIT
#
# bash completion for heddle.  Every list comes from the command itself ('heddle complete ...'), so that a new
# kernel, family, set or option is completed without a change here.

_heddle_words() {
    local word=$1
    shift
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$*" -- "$word")
}

_heddle_list() { # the word behind the last comma
    local word=$1 head=
    shift
    [[ $word != *,* ]] || head=${word%,*},
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -P "$head" -W "$*" -- "${word##*,}")
}

_heddle_files() {
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$1")
    compopt -o filenames 2>/dev/null
}

# A word that contains ':' or '=' reaches us in pieces; put them together and cut what is already there off
# the answers.
_heddle_prefix() {
    local whole=$1 piece=$2 i
    local cut=${whole%"$piece"}
    [ -n "$cut" ] || return 0
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$cut"}
    done
}

_heddle_value() { # _heddle_value OPTION WORD
    case $1 in
    --baseline) _heddle_words "$2" "$(heddle complete kernels)" ;;
    --kernel | -k) _heddle_list "$2" "$(heddle complete kernels)" ;;
    --peer | -p) _heddle_list "$2" "$(heddle complete peers)" ;;
    --device | -d) _heddle_words "$2" "$(heddle complete devices)" ;;
    --type | -t) _heddle_list "$2" "f32 f64 c32 c64 f16 bf16 f32v64" ;;
    --op) _heddle_list "$2" "N T H" ;;
    --layout) _heddle_list "$2" "rows columns" ;;
    --vectors) _heddle_list "$2" "2 4 8 16 32" ;;
    --x | -x | --y | -y | --output | -o | --json | --svg | --from | --with) _heddle_files "$2" ;;
    *) return 1 ;;
    esac
}

_heddle_operand() { # _heddle_operand COMMAND WORD
    case $1 in
    help) _heddle_words "$2" "$(heddle complete commands)" ;;
    compare | report) _heddle_files "$2" ;;
    reproduce) _heddle_words "$2" "$(heddle complete experiments)" ;;
    gen) _heddle_words "$2" "$(heddle complete families) $(heddle complete members)" ;;
    info | convert | mv | check | bench)
        case $2 in
        set:*) _heddle_words "$2" "$(heddle complete sets) $(heddle complete members)" ;;
        gen:*) _heddle_words "$2" "$(heddle complete families | sed 's/^/gen:/')" ;;
        *)
            _heddle_files "$2"
            _heddle_words "$2" "gen: set:"
            compopt -o nospace 2>/dev/null
            ;;
        esac
        ;;
    esac
}

_heddle() {
    local cur=${COMP_WORDS[COMP_CWORD]} piece=${COMP_WORDS[COMP_CWORD]} i=$COMP_CWORD previous
    # pieces that belong together: set : paper/cant, --kernel = cpu_csr
    while [ "$i" -gt 1 ] && { [[ ${COMP_WORDS[i]} == [:=]* ]] || [[ ${COMP_WORDS[i - 1]} == *[:=] ]]; }; do
        i=$((i - 1))
        cur=${COMP_WORDS[i]}$cur
    done
    previous=${COMP_WORDS[i - 1]}
    COMPREPLY=()
    if [ "$i" -eq 1 ]; then
        _heddle_words "$cur" "$(heddle complete commands) --help --version"
    elif [[ $cur == --*=* ]]; then
        _heddle_value "${cur%%=*}" "${cur#*=}"
    elif [[ $cur == -* ]]; then
        _heddle_words "$cur" "$(heddle complete options "${COMP_WORDS[1]}" 2>/dev/null | sed 's/=$//')"
    elif ! _heddle_value "$previous" "$cur"; then
        _heddle_operand "${COMP_WORDS[1]}" "$cur"
    fi
    _heddle_prefix "$cur" "$piece"
}

complete -F _heddle heddle
