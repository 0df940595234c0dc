#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Heddle inside PETSc, where petsc-dev is: products of the type against PETSc's own, memory over many
# assemblies, and programs that others wrote.  Those come from Debian's packages of examples, as they are;
# without them or a network they are skipped.  The table of the programs is left in BUILD/petsc.md.
set -u
build=$(realpath "$1") source=$(realpath "$2")
. "$source/tests/verdict.bash"
plugin=$build/libheddle_petsc.so
if [ ! -e "$plugin" ]; then
    skip "Heddle inside PETSc" "the plugin was not built (scripts/setup petsc installs what it needs)"
    told
    exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

# Ranks may be more than processors, and root may run tests.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_btl=self,vader
sanitize=$(sed -n 's/^HEDDLE_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
preload=
[ -z "$sanitize" ] ||
    preload="env LD_PRELOAD=$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)"
# MPI and PETSc keep what they have until the process ends
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}

ranks() { # ranks N PROGRAM...
    local n=$1
    shift
    # shellcheck disable=SC2086
    timeout 120 mpiexec -n "$n" $preload "$@" 2>&1 </dev/null
}
compile() { # compile SOURCE PROGRAM MODULES...
    local from=$1 to=$2
    shift 2
    # shellcheck disable=SC2046
    mpicc -g -O1 -I"$source/petsc" $(pkg-config --cflags "$@") "$from" -o "$to" -L"$build" -lheddle_petsc \
        -Wl,-rpath,"$build" \
        $(pkg-config --libs "$@") -lm
}

# ---------------------------------------------------------------------- products

# problem_of COMMAND...: its last lines, unless it says that all of its tests passed
problem_of() {
    "$@" >said 2>&1
    grep -qE '^[1-9][0-9]* passed, 0 failed$' said || tail -n 20 said
}
verdict "a program of one's own compiles" \
    "$(compile "$source/tests/petsc/products.c" products PETSc >said 2>&1 || cat said)"
# More ranks than processors wait for each other, the longer the slower their code is: unless there is time,
# two do under sanitizers, and for programs that others wrote.
all=${HEDDLE_SLOW_TESTS:-}
for n in 1 2 3; do
    [ -n "$all" ] || [ -z "$sanitize" ] || [ $n = 2 ] || continue
    for products in "" "-mat_heddle_products 1000000" "-mat_heddle_products 0"; do
        # shellcheck disable=SC2086
        verdict "products on $n ranks, $products" "$(problem_of ranks $n ./products $products)"
    done
done
verdict "products on the emulator" \
    "$(problem_of ranks 1 ./products -mat_heddle_device emu -mat_heddle_products 0)"
if [ -z "$sanitize" ]; then # which keeps what was freed
    verdict "memory over 10,000 assemblies" "$(problem_of ranks 1 ./products -repeat 10000)"
fi
refused() { ranks 1 ./products -mat_heddle_device "$1" | grep -qF "$2" || echo "no word of '$2'"; }
verdict "a device that is not there is named" "$(refused cuda:99 cuda 2>/dev/null)"
verdict "a device that does not parse is refused" "$(refused cpu:threads=0 threads 2>/dev/null)"

python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import petsc4py.PETSc' >/dev/null 2>&1 || python=$candidate
done
if [ -z "$python" ]; then
    skip "petsc4py" "it is not here (python3-petsc4py)"
elif [ -z "$sanitize" ]; then
    for n in 1 2; do
        verdict "petsc4py on $n ranks" \
            "$(problem_of ranks $n "$python" "$source/tests/petsc/example.py" "$plugin")"
    done
fi

# Other builds of PETSc that Debian has beside its usual one: 64-bit indices, and complex numbers.
plugin_for() ( # plugin_for FOLDER_OF_PC: compiled as the usual one, for that PETSc
    export PKG_CONFIG_PATH=$1
    flags=$(pkg-config --cflags PETSc) libs=$(pkg-config --libs PETSc)
    # shellcheck disable=SC2086
    mpicc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -I"$source/include" $flags "$source"/petsc/*.c \
        -o other/libheddle_petsc.so \
        -L"$build" -lheddle -Wl,-rpath,"$build" $libs &&
        mpicc -I"$source/petsc" $flags "$source/tests/petsc/products.c" -o other/products -Lother \
        -lheddle_petsc \
            -Wl,-rpath,"$scratch/other" $libs -lm
)
for pc in /usr/lib/petscdir/petsc64-*/*-real/lib/pkgconfig \
    /usr/lib/petscdir/petsc[0-9]*/*-complex/lib/pkgconfig; do
    { [ -e "$pc/PETSc.pc" ] && [ -z "$sanitize" ]; } || continue
    mkdir -p other
    what="64-bit indices"
    [[ $pc = *-complex/* ]] && what="complex numbers"
    verdict "$what compile" "$(plugin_for "$pc" 2>&1)"
    verdict "$what on 1 rank" "$(problem_of ranks 1 other/products)"
    verdict "$what on 2 ranks, planned" "$(problem_of ranks 2 other/products -mat_heddle_products 1000)"
done

# ---------------------------------------------------------------------- programs that others wrote

# examples MODULE PACKAGE: the folder with the sources of its examples, from the system or out of the package
examples() {
    local name version found
    name=$(tr '[:upper:]' '[:lower:]' <<<"$1")
    version=$(pkg-config --modversion "$1" 2>/dev/null | cut -d. -f1,2) || return
    found=/usr/share/$name/$version/share/$name/examples/src
    if [ ! -d "$found" ]; then
        (mkdir -p "$name" && cd "$name" && apt-get download -qq "lib$name$version-dev-examples" &&
            dpkg-deb -x ./*.deb .) >/dev/null 2>&1
        found=$scratch/$name$found
    fi
    [ -d "$found" ] && echo "$found"
}
petsc_src=$(examples PETSc) slepc_src=$(examples SLEPc)
[ -n "$petsc_src" ] || skip "programs of PETSc" "no package of examples is here, and none is to be had"
[ -n "$slepc_src" ] || skip "programs of SLEPc" "no package of examples is here, and none is to be had"

# What they read, written by the command.
"$build/heddle" convert gen:grid2d:n=60 file.petsc >convert.log 2>&1 &&
    "$build/heddle" convert gen:random:rows=400,cols=300,mean=5 least.petsc >>convert.log 2>&1
verdict "heddle convert writes .petsc" "$([ -s least.petsc ] || cat convert.log)"

# but for the name
differs() { sed -i s/seqaijheddle/seqaij/ heddle && awk -f "$source/tests/petsc/same.awk" stock heddle; }
counted() {
    grep -oiE '(iterations?( of the method)?|its)[ :=]+[0-9]+' "$1" | grep -oE '[0-9]+$' |
        awk '{ n += $1 } END { print n }'
}
table=$build/petsc.md
echo "| program | options | ranks | iterations of aij | of aijheddle |
|---|---|---|---|---|" >"$table"
run_program() { # SOURCE_FOLDER NAME OPTIONS...
    local folder=$1 name=$2 program modules=PETSc n problem
    shift 2
    program=${name//\//_}
    [[ $folder != "$slepc_src" ]] || modules="SLEPc PETSc"
    # shellcheck disable=SC2086
    [ -x "$program" ] || problem=$(compile "$folder/$name.c" "$program" $modules 2>&1) ||
        { verdict "$name compiles" "$problem"; return; }
    for n in ${all:+1} 2 ${all:+4}; do
        ranks $n "./$program" "$@" >stock ||
            { verdict "$name $* on $n ranks, as PETSc has it" "$(tail -n 5 stock)"; continue; }
        ranks $n "./$program" "$@" -dll_append "$plugin" -mat_type aijheddle -dm_mat_type aijheddle \
            -options_left no >heddle ||
            { verdict "$name $* on $n ranks" "$(tail -n 5 heddle)"; continue; }
        verdict "$name $* on $n ranks" "$(differs)"
        echo "| $name | ${*//"$scratch/"/} | $n | $(counted stock) | $(counted heddle) |" >>"$table"
        [ $n = 2 ] || continue
        ranks $n "./$program" "$@" -dll_append "$plugin" -mat_seqaij_type seqaijheddle \
            -options_left no >heddle
        verdict "$name $* on $n ranks, -mat_seqaij_type" "$(differs)"
    done
}
while read -r name options; do
    [[ $name != \#* ]] || continue
    options=${options//FILE/$scratch/file.petsc}
    options=${options//LEAST/$scratch/least.petsc}
    folder=$petsc_src
    [[ ! $name =~ ^(eps|svd)/ ]] || folder=$slepc_src
    [ -z "$folder" ] && continue
    # a process that PETSc loads any library into does not end under AddressSanitizer
    [ -z "$sanitize" ] || continue
    # shellcheck disable=SC2086
    run_program "$folder" "$name" $options
done <"$source/tests/petsc/programs"
told
