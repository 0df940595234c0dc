# SPDX-License-Identifier: MIT
#
# fish completion for heddle.  Every list comes from the command itself, as in heddle.bash.

function __heddle_list # the words of a list, behind the last comma of the word at hand
    set -l head (string match -r '^.*,' -- (commandline -ct | string replace -r '^--[a-z-]+=' ''))
    for word in $argv
        echo "$head$word"
    end
end

function __heddle_options # of the command at hand
    set -l line (commandline -opc)
    set -q line[2]; and heddle complete options $line[2] 2>/dev/null | string replace -r '=$' ''
end

function __heddle_is # is the command at hand one of these?
    set -l line (commandline -opc)
    set -q line[2]; and contains -- $line[2] $argv
end

complete -c heddle -f
complete -c heddle -n 'test (count (commandline -opc)) -eq 1' -a '(heddle complete commands)'
complete -c heddle -n 'string match -q -- "-*" (commandline -ct)' -a '(__heddle_options)'
complete -c heddle -l kernel -s k -x -a '(__heddle_list (heddle complete kernels))'
complete -c heddle -l baseline -x -a '(heddle complete kernels)'
complete -c heddle -l peer -s p -x -a '(__heddle_list (heddle complete peers))'
complete -c heddle -l device -s d -x -a '(heddle complete devices)'
complete -c heddle -l type -s t -x -a '(__heddle_list f32 f64 c32 c64 f16 bf16 f32v64)'
complete -c heddle -l op -x -a '(__heddle_list N T H)'
complete -c heddle -l layout -x -a '(__heddle_list rows columns)'
complete -c heddle -l vectors -x -a '(__heddle_list 2 4 8 16 32)'
for file in output json svg from with x y
    complete -c heddle -l $file -r -F
end
complete -c heddle -n '__heddle_is help' -a '(heddle complete commands)'
complete -c heddle -n '__heddle_is compare report' -F
complete -c heddle -n '__heddle_is reproduce' -a '(heddle complete experiments)'
complete -c heddle -n '__heddle_is gen' -a '(heddle complete families; heddle complete members)'
complete -c heddle -n '__heddle_is info convert mv check bench' -F \
    -a '(heddle complete sets; heddle complete members
         string replace -r "^" gen: (heddle complete families))'
