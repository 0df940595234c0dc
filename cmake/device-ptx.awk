# SPDX-License-Identifier: MIT
#
# device-ptx.awk: PTX without comments, indentation and empty lines, the registers and labels of each function
# numbered in the order in which it names them.  Most of what PTX says is such numbers; where functions do
# alike, they now read alike, and the pack of all is a seventh smaller.
{ sub(/^[ \t]+/, "") }

/^$/ || /^\/\// { next }

/\.(entry|func)[ \t]/ { delete is_numbered; delete new; delete count }

# .reg .b64 %rd<44>; declares %rd0 to %rd43.
/^\.reg / && match($0, /%[a-z]+</) { is_numbered[substr($0, RSTART, RLENGTH - 1)] = 1 }

{
    line = ""
    while (match($0, /(%[a-z]+|\$L__BB[0-9]+_)[0-9]+/)) {
        line = line substr($0, 1, RSTART - 1) numbered_anew(substr($0, RSTART, RLENGTH))
        $0 = substr($0, RSTART + RLENGTH)
    }
    print line $0
}

function numbered_anew(name, kind)
{
    kind = name
    sub(/[0-9]+$/, "", kind)
    if (kind ~ /^\$/)
        kind = "$L__BB"
    else if (!(kind in is_numbered))
        return name
    if (!(name in new))
        new[name] = kind (count[kind]++ + 0)
    return new[name]
}
