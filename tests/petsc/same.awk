# SPDX-License-Identifier: MIT
#
# awk -f same.awk STOCK HEDDLE: says where two outputs differ by more than rounding.  Whole numbers
# (iterations, sizes) must be the same; others agree to five digits, or are both errors of the size of
# rounding, which no two programs have alike.
function whole(t) { return t ~ /^[-+]?[0-9]+[,.;:]?$/ }
function real(t) { return t ~ /^[-+<]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?[,;:]?$/ }
function plain(t) { gsub(/[<,;:]/, "", t); return t + 0 }
function size(v) { return v < 0 ? -v : v }
FNR == NR { stock[NR] = $0; lines = NR; next }
{
    n = split(stock[FNR], a)
    same = n == NF
    for (i = 1; i <= NF && same; i++) {
        if (a[i] == $i) continue
        u = plain(a[i]); v = plain($i)
        same = !whole(a[i]) && real(a[i]) && real($i) &&
               (size(u - v) <= 1e-5 * size(u) || (size(u) < 1e-7 && size(v) < 1e-7))
    }
    if (!same) { print "line " FNR ": '" stock[FNR] "' became '" $0 "'"; exit }
}
END { if (FNR != lines && same) print lines " lines became " FNR }
