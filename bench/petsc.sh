#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# bench/petsc.sh BUILD [COUNT]: Heddle inside PETSc against PETSc's own aij and aijsell, over the COUNT (17)
# matrices of set:paper with most nonzeros, on two processors: two ranks of one thread each, and one rank of
# two threads.  Prints a table for docs/distributed.md: speed-ups over the faster of aij and aijsell with two
# ranks, and what the plans cost in products of it.
set -eu
build=$(realpath "$1") count=${2:-17} source=$(realpath "$(dirname "$0")/..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# shellcheck disable=SC2046
mpicc -O2 $(pkg-config --cflags PETSc) "$source/bench/petsc.c" \
    -o "$scratch/petsc" $(pkg-config --libs PETSc) -lm
plugin="-dll_append $build/libheddle_petsc.so -mat_heddle_products 1000"

# Those with most nonzeros come first.
members="Flan_1565 europe_osm ldoor boneS10 wbp256 asia_osm rajat31 kkt_power pwtk shipsec1 Rucci1 consph
    cont11_l pdb1HYS cant dense2 wbp128"
heddle="2 ranks | 1 rank x 2 threads | first"
echo "| matrix | nonzeros | aij N ms | aijsell N ms | $heddle | aij T ms | $heddle |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
for member in $(tr -s ' \n' '\n' <<<"$members" | head -n "$count" | tac); do
    "$build/heddle" convert "set:paper/$member" "$scratch/a.petsc" >/dev/null 2>&1
    nnz=$(od -An -j 12 -N 4 -t d4 --endian=big "$scratch/a.petsc")
    # shellcheck disable=SC2086
    for _ in 1 2; do
        mpiexec -n 2 "$scratch/petsc" -file "$scratch/a.petsc" -types aij,aijsell,aijheddle $plugin \
            -mat_heddle_threads 1 </dev/null
        "$scratch/petsc" -file "$scratch/a.petsc" -types aijheddle $plugin -mat_heddle_threads 2 </dev/null
    done >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; exit 1; }
    awk -v name="$member" -v nnz="$nnz" '
        NF == 6 {
            key = $1 $2 $3
            if (!(key in best) || $4 < best[key]) best[key] = $4
            if (!(key in first) || $5 < first[key]) first[key] = $5
        }
        function least(a, b) { return a < b ? a : b }
        END {
            n = least(best["2aijN"], best["2aijsellN"]); t = least(best["2aijT"], best["2aijsellT"])
            printf "| %s | %d | %.3f | %.3f | %.2f | %.2f | %.0f | %.3f | %.2f | %.2f | %.0f |\n",
                name, nnz, best["2aijN"], best["2aijsellN"],
                n / best["2aijheddleN"], n / best["1aijheddleN"], first["2aijheddleN"] / n,
                best["2aijT"], t / best["2aijheddleT"], t / best["1aijheddleT"], first["2aijheddleT"] / t
        }' "$scratch/said"
done | tee "$scratch/table"
awk -F'|' '{ for (i = 6; i <= 11; i++) if (i != 8 && i != 9) sum[i] += log($i); n++ }
           END { printf "| geometric mean | | | | %.2f | %.2f | | | %.2f | %.2f | |\n",
                     exp(sum[6]/n), exp(sum[7]/n), exp(sum[10]/n), exp(sum[11]/n) }' "$scratch/table"
