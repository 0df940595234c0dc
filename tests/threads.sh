#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# More threads than the system grants: the work is done with fewer, or a status tells why not.  The process
# never ends otherwise.
set -u
build=$1 source=$2
. "$source/tests/verdict.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

multiply() {
    "$build/heddle" mv gen:grid2d:n=300 --device cpu -o "$scratch/y.txt" >"$scratch/out" 2>"$scratch/err"
}

# What 1 GB of addresses must suffice for.
(ulimit -v 1000000 && OMP_NUM_THREADS=4096 multiply)
verdict "4096 threads in 1 GB come down to fewer" "$([ $? -eq 0 ] || cat "$scratch/err")"
for kilobytes in 60000 100000 200000 400000; do
    (ulimit -v $kilobytes && OMP_NUM_THREADS=4096 multiply)
    code=$?
    told_why() { [ $code -eq 2 ] && grep -qE '^heddle: .*(cannot allocate|memory)' "$scratch/err"; }
    verdict "4096 threads in $kilobytes KB end in a result or an error" \
        "$([ $code -eq 0 ] || told_why || echo "status $code: $(cat "$scratch/err")")"
done
OMP_NUM_THREADS=1000000 multiply
verdict "a number of threads beyond all bounds is brought down to one that is not" \
    "$([ $? -eq 0 ] || cat "$scratch/err")"

# Its workers sleep inside the library: a program that closes it must not pull it away under them.
verdict "the shared library stays where it is loaded" \
    "$(readelf -d "$build/libheddle.so" | grep -q NODELETE || echo 'no NODELETE')"
told
