#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The command as a user meets it: bash tests/cli.sh BUILD_DIR SOURCE_DIR.
# Good lines work and their JSON parses; each kind of broken input gives one clear line on standard error,
# exit status 2, nothing on standard output and no file.  Ends in 'N passed, N failed, N skipped'.
set -u
build=$(cd "$1" && pwd)
source=$(cd "${2:-.}" && pwd)
[ -x "$build/heddle" ] || { echo "there is no $build/heddle: build it first"; exit 1; }
export PATH="$build:$PATH" NO_COLOR=1 LC_ALL=C
# Looking for leaks takes LeakSanitizer seconds a process on some machines: a few commands are run with it at
# the end.
with_leaks=${ASAN_OPTIONS:-}
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-cli-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" && cd "$work/here" || exit 1
. "$source/tests/verdict.bash"

run() { # run COMMAND...: status in $rc, output in ../out and ../err
    "$@" >"$work/out" 2>"$work/err"
    rc=$?
}

good() { # good NAME WORDS COMMAND...: status 0, WORDS in the output, nothing on standard error
    local name=$1 words=$2 problem=''
    shift 2
    run "$@"
    [ $rc -eq 0 ] || problem="exit status $rc ($(head -c 300 "$work/err"))"
    [ ! -s "$work/err" ] || problem="standard error: $(head -c 300 "$work/err")"
    [ -z "$words" ] || grep -qF -- "$words" "$work/out" ||
        problem="$problem no '$words' in: $(head -c 300 "$work/out")"
    verdict "$name" "$problem"
}

bad() { # bad NAME WORDS COMMAND...: status 2, one line on standard error with WORDS, no output, no new file
    local name=$1 words=$2 problem='' before
    shift 2
    before=$(ls -A)
    run "$@"
    [ $rc -eq 2 ] || problem="exit status $rc"
    [ "$(wc -l <"$work/err")" -eq 1 ] || problem="${problem} not one line: $(head -c 500 "$work/err")"
    grep -q '^heddle: ' "$work/err" || problem="$problem no 'heddle: ' in: $(head -c 300 "$work/err")"
    grep -qF -- "$words" "$work/err" || problem="$problem no '$words' in: $(head -c 300 "$work/err")"
    [ ! -s "$work/out" ] || problem="$problem there is output"
    [ "$(ls -A)" = "$before" ] || problem="$problem it left a file beside: $before"
    verdict "$name" "$problem"
}

python=$(command -v python3)
json() { # json NAME FILE: every line is a JSON value
    [ -n "$python" ] || { skip "$1" 'there is no python3' && return; }
    local problem
    problem=$("$python" -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <"$2" 2>&1 |
        tail -n 1 | head -c 300)
    [ -s "$2" ] || problem="there is nothing"
    verdict "$1" "$problem"
}

matrix() { # matrix FILE LINES: a Matrix Market file with that banner's rest
    printf '%b' "$2" >"$1"
}
banner='%%MatrixMarket matrix coordinate real general\n'

# ---------------------------------------------------------------- the way of a new user
good 'gen makes a file' '8,000 x 8,000, 53,600 nonzeros' heddle gen grid3d:n=20 -o a.mtx
good 'info tells JSON' '"nnz":53600' heddle info a.mtx --json
json 'info --json parses' "$work/out"
good 'mv writes y' 'y.mtx: 8,000 numbers' heddle mv a.mtx -o y.mtx
good 'check finds nothing wrong' ' 0 wrong' heddle check a.mtx
good 'info is for people, too' 'columns in order' heddle info a.mtx
good 'help lists the commands' 'heddle bench' heddle help
good 'help of a command has examples' 'Examples:' heddle bench --help
good 'help COMMAND is COMMAND --help' 'Examples:' heddle help mv
good 'the version tells what was built in' 'compiler:' heddle --version
good 'devices has the CPU' 'cpu' heddle devices
good 'devices as JSON' '"name":"cpu"' heddle devices --json
json 'devices --json parses' "$work/out"
good 'kernels lists cpu_csr' 'cpu_csr' heddle kernels
good 'kernels as JSON' '"name":"cpu_csr"' heddle kernels --json
json 'kernels --json parses' "$work/out"
good 'kernels --options shows values' '8 16 32' heddle kernels --options
verdict 'kernels --options has words, zeros, and all that stands behind them' \
    "$(for line in 'csr_weave +way +auto +auto blocks passing' 'csr_vector +lanes +0 +0 2 4 8 16 32 64' \
        'csr_naive_t +cas +0 +0 1'; do
        grep -qE "^$line *\$" "$work/out" || grep "^${line%% *} " "$work/out"
    done; grep -F '(null)' "$work/out")"
good 'kernels --options as JSON' '"option":"slice"' heddle kernels --options --json
verdict 'so has the JSON' "$(grep -qF '"option":"cas","default":"0","values":["0","1"]' "$work/out" ||
    head -c 300 "$work/out")"
json 'kernels --options --json parses' "$work/out"
good 'kernels --resources says what the compilers said' '' heddle kernels --resources
verdict 'kernels --resources is a table, or tells why there is none' \
    "$(grep -qE '^csr_naive .* (sm_|gfx|ptx)|^This build has no device code' "$work/out" ||
        head -c 300 "$work/out")"
good 'kernels --resources as JSON' '{"resources":[' heddle kernels --resources --json
json 'kernels --resources --json parses' "$work/out"
bad 'two tables at once' 'one at a time' heddle kernels --resources --options
good 'families are listed' 'grid3d' heddle gen --list
good 'members of a set are listed' 'cant' heddle gen --list set:paper
good 'a stand-in is shown beside the original' 'published' heddle info set:paper/qh1484
good 'what is quiet says nothing' '' heddle gen grid2d:n=5 -o q.mtx --quiet
verdict 'what is quiet leaves standard output empty' "$(cat "$work/out")"

# ---------------------------------------------------------------- products
matrix s.mtx "${banner}2 3 3\n1 1 2\n1 3 3\n2 2 5\n"
good 'mv of ones goes to standard output' '5' heddle mv s.mtx
verdict 'y = A 1 has one number a line' \
    "$([ "$(tr '\n' ' ' <"$work/out")" = '5 5 ' ] || head -c 200 "$work/out")"
printf '1\n2\n3\n' >x.txt
good 'mv reads x from a file' '11' heddle mv s.mtx --x x.txt --quiet
printf '1 2' >x2.txt
good 'mv transposes' '' heddle mv s.mtx --op T --x x2.txt
verdict 'y = T(A) x is right' "$([ "$(tr '\n' ' ' <"$work/out")" = '2 10 3 ' ] || head -c 200 "$work/out")"
good 'mv takes alpha, beta and y' '' heddle mv s.mtx --alpha=-1 --beta 2 --y x2.txt --type f32
verdict 'y = -A 1 + 2 y is right' "$([ "$(tr '\n' ' ' <"$work/out")" = '-3 -1 ' ] || head -c 200 "$work/out")"
good 'mv takes a kernel with options' '' heddle mv s.mtx --kernel cpu_sell:slice=8,window=64 -o k.mtx
good 'mv takes a plan and a device' '' heddle mv s.mtx --kernel plan --device cpu:threads=1

# ---------------------------------------------------------------- files
for to in b.mtx b.mtx.gz b.rb b.rb.gz b.hdl b.petsc b.petsc64; do
    good "convert to $to" "53,600 nonzeros" heddle convert a.mtx "$to"
    good "$to is the same matrix" '"nnz":53600' heddle info "$to" --json
done

# ---------------------------------------------------------------- check and bench
good 'check as JSON' '"wrong":0' heddle check s.mtx --json --kernel auto,cpu_csr
json 'check --json parses' "$work/out"
good 'check of one type and operation' '2 of 2 combinations verified' heddle check s.mtx \
    --kernel auto,cpu_csr --type f32 --op T
bad 'check of a type that is none' 'it takes f32 or f64 or c32' heddle check s.mtx --type f8
bad 'check of an operation that is none' 'H is of complex numbers' heddle check s.mtx --op H
good 'a matrix can be transposed' 'columns                             400' \
    heddle info transpose:gen:dense:rows=400,cols=300
bad 'but not twice' 'once is enough' heddle info transpose:transpose:gen:dense:n=3
good 'check of several kinds of matrices' '2 matrices' heddle check s.mtx gen:diagonal:n=10 --kernel cpu_csr
good 'bench ends in a summary' ' 0 wrong' \
    heddle bench s.mtx gen:grid2d:n=20 --kernel auto,plan,cpu_csr --type f32,f64 --op N,T --time-limit 0.01 \
    --json r.jsonl
verdict 'bench keeps a record for each run and matrix' "$([ "$(wc -l <r.jsonl)" -eq 26 ] || wc -l r.jsonl)"
verdict 'every record is verified' "$([ "$(grep -c '"verified":true' r.jsonl)" -eq 24 ] || echo 'not 24')"
json 'bench records parse' r.jsonl
good 'a plan for fixed values' '1 verified' heddle bench gen:grid3d:n=40 --device cpu --no-cold \
    --kernel plan:values=fixed --json fixed.jsonl
verdict 'bench says where a plan has narrower values' \
    "$(a=$(grep -c ' in f32 ' "$work/out")
       b=$(sed 's/"candidates".*//' fixed.jsonl | grep -c '"stored_value":"f32"')
       [ "$a" -eq "$b" ] || echo "$a and $b")"
cp r.jsonl whole.jsonl && head -c -150 whole.jsonl >r.jsonl
good 'an interrupted bench goes on where its records end' '23 of them were in r.jsonl' \
    heddle bench s.mtx gen:grid2d:n=20 --kernel auto,plan,cpu_csr --type f32,f64 --op N,T --time-limit 0.01 \
    --json r.jsonl
verdict 'and its file is whole again' "$([ "$(wc -l <r.jsonl)" -eq 26 ] || wc -l r.jsonl)"
json 'records of both parts parse' r.jsonl
good 'a bench can start over' '2 runs: 2 verified' heddle bench s.mtx --time-limit 0.01 --no-cold \
    --json r.jsonl --fresh
verdict 'which leaves nothing of the old file' "$([ "$(wc -l <r.jsonl)" -eq 3 ] || wc -l r.jsonl)"
good 'compare finds nothing between a file and itself' '0 slower, 0 faster' \
    heddle compare whole.jsonl whole.jsonl
# Times that were made up: a machine may stand still in the midst of a run, and the spread is then beyond all
# that could be slower.
sed 's/"warm_ms":[^,]*/"warm_ms":1/;s/"warm_min_ms":[^,]*/"warm_min_ms":1/;s/"spread":[^,]*/"spread":0/
    s/"repetitions":[^,]*/"repetitions":9/' whole.jsonl >even.jsonl
sed 's/"warm_ms":1,/"warm_ms":2,/;s/"warm_min_ms":1,/"warm_min_ms":2,/' even.jsonl >slow.jsonl
gzip -k whole.jsonl
good 'compare reads packed records' '0 slower, 0 faster' heddle compare whole.jsonl whole.jsonl.gz
good 'report reads packed records' '' heddle report whole.jsonl.gz --svg packed
good 'reproduce reads packed records' '' heddle reproduce naive-fig2 --from whole.jsonl.gz -o packed
head -c 200 whole.jsonl.gz >cut.jsonl.gz
bad 'packed records that are cut off' 'cut off' heddle report cut.jsonl.gz --svg packed
if command -v xz >/dev/null; then
    xz -k whole.jsonl
    good 'compare reads records of xz' '0 slower, 0 faster' heddle compare whole.jsonl.xz whole.jsonl
fi
good 'compare names what is slower' '24 slower, 0 faster' heddle compare even.jsonl slow.jsonl
good 'compare names the kernel' 'cpu_csr' heddle compare even.jsonl slow.jsonl
good 'compare as JSON' '"significant":true' heddle compare even.jsonl slow.jsonl --json
json 'compare --json parses' "$work/out"
good 'matrices over the memory limit are skipped' 'skipped: the matrix needs about' \
    heddle bench s.mtx --memory 10 --time-limit 0.01 --no-cold
good 'a peer that is not there is skipped' 'skipped: cusparse computes on cuda devices' \
    heddle bench s.mtx --device cpu --peer cusparse:csr_alg1 --time-limit 0.01 --no-cold
fake=$build/tests/fakes/libfake_cpu_sparse.so
if [ -f "$fake" ]; then
    export HEDDLE_RSB_LIBRARY="$fake"
    good 'peers end in a comparison' 'Best peer over kernel, warm' \
        heddle bench s.mtx --device cpu --kernel auto,cpu_csr --peer rsb --time-limit 0.01 --no-cold \
        --json peers.jsonl
    verdict 'and their records name the library' \
        "$([ "$(grep -c '"peer":"rsb 1"' peers.jsonl)" -eq 2 ] || echo no)"
    good 'the comparison takes what was recorded before' 'Best peer over kernel, warm' \
        heddle bench s.mtx --device cpu --kernel auto,cpu_csr --peer rsb --time-limit 0.01 --no-cold \
        --json peers.jsonl
    unset HEDDLE_RSB_LIBRARY
else
    skip 'peers' "there is no $fake"
fi
good 'bench tells what determinism costs' 'times the time, geometric mean of 2' \
    heddle bench s.mtx gen:grid2d:n=9 --device cpu --kernel auto:deterministic=1,auto --op N,T \
    --time-limit 0.01 --no-cold \
    --json twins.jsonl
good 'a bench that went on tells it, too' '8 runs: 8 verified' \
    heddle bench s.mtx gen:grid2d:n=9 --device cpu --kernel auto:deterministic=1,auto --op N,T \
    --time-limit 0.01 --no-cold \
    --json twins.jsonl
verdict 'prices of a bench that went on are complete' \
    "$(grep -q 'auto f64 T: .* mean of 2' "$work/out" || head -c 400 "$work/out")"
good 'mv takes a deterministic choice' '' heddle mv s.mtx --kernel auto:deterministic=1 --device emu
good 'the limits of the emulator are a table' 'gather  random' heddle bench --limits --device emu \
    --json limits.jsonl
verdict 'every limit is a record' \
    "$([ "$(grep -c '"record":"limit"' limits.jsonl)" -eq 27 ] || wc -l limits.jsonl)"
json 'records of limits parse' limits.jsonl
good 'limits go to standard output' '"limit":"launch"' heddle bench --limits --device emu --json -
good 'bench writes records to standard output' '"record":"run"' heddle bench s.mtx \
    --json - --time-limit 0.01 --no-cold
json 'records on standard output parse' "$work/out"
good 'skipped runs tell why' 'skipped: cpu_csr_t' heddle bench s.mtx --kernel cpu_csr_t,cpu_csr \
    --time-limit 0.01
mkdir set && cp s.mtx set/one.mtx && cp s.mtx set/two.mtx
good 'a directory is a set' '4 runs: 4 verified' heddle bench set:set --time-limit 0.01 --no-cold
printf 'garbage' >set/broken.mtx
run heddle bench set:set --time-limit 0.01 --no-cold
verdict 'a broken file in a set is told, and the others run' \
    "$([ $rc -eq 2 ] && grep -q '4 verified' "$work/out" && grep -q '1 of 3 matrices' "$work/err" ||
        echo "status $rc")"
run heddle check set:set --kernel cpu_csr --type f64 --op N
verdict 'and so does check' \
    "$([ $rc -eq 2 ] && grep -q '2 of 3 combinations verified, 0 wrong, 1 skipped' "$work/out" &&
    grep -q '1 of 3 matrices' "$work/err" || echo "status $rc")"
rm -r set

# ---------------------------------------------------------------- bad usage
bad 'unknown command' "did you mean 'bench'" heddle bnech a.mtx
bad 'unknown command, nothing near' 'heddle help' heddle xyzzy
bad 'unknown option' "did you mean '--json'" heddle info a.mtx --jsno
bad 'unknown short option' "no option '-z'" heddle info a.mtx -z
bad 'missing argument' 'heddle info MATRIX' heddle info
bad 'one argument too many' "'b.mtx'" heddle mv a.mtx b.mtx
bad 'option without its value' '--op needs a value' heddle mv a.mtx --op
bad 'flag with a value' 'takes no value' heddle kernels --options=yes
bad 'bad operation' 'N or T' heddle mv a.mtx --op X
bad 'bad type' 'bf16 or f32v64' heddle mv a.mtx --type f8
bad 'complex scalar of real numbers' 'the numbers are real' heddle mv a.mtx --alpha 1+2i
good 'a matrix of complex values' '' heddle gen grid2d:n=3,values=complex -o g.mtx
good 'is described' 'hermitian symmetry' heddle info g.mtx
good 'and in another type' 'bytes (c32)' heddle info g.mtx --type c32
bad 'not as a real one' 'complex' heddle convert g.mtx g.hdl --type f64
bad 'bad number' 'not a number' heddle mv a.mtx --alpha one
bad 'beta without y' '--y FILE' heddle mv a.mtx --beta 1
bad 'y without beta' '--beta' heddle mv a.mtx --y y.mtx
bad 'bad time limit' '--time-limit' heddle bench a.mtx --time-limit soon
bad 'negative repetitions' '--repetitions' heddle bench a.mtx --repetitions -3
bad 'bad device' 'gpu' heddle mv a.mtx --device gpu:0
bad 'bad kernel' "did you mean 'cpu_csr'" heddle mv a.mtx --kernel cpu_crs
bad 'bad peer' "there is no peer 'cusparze' (there are: cusparse" heddle bench a.mtx --peer cusparze
bad 'bad algorithm of a peer' "cusparse has no algorithm 'csr_alg9'" heddle bench a.mtx \
    --peer cusparse:csr_alg9
bad 'bad option of a peer' 'preprocess' heddle bench a.mtx --peer cusparse:csr_alg1:preproces=0
bad 'compare without records' 'there are no runs in it' heddle compare s.mtx s.mtx
bad 'compare without a file' 'cannot be read' heddle compare nosuch.jsonl nosuch.jsonl
bad 'limits of no matrix' '--limits measures the device' heddle bench a.mtx --limits
bad 'a bench of nothing' 'at least 1 MATRIX, or --limits' heddle bench
bad 'bad option of auto' "auto has no 'det'" heddle bench a.mtx --kernel auto:det=1
bad 'bad kernel in a list' "'cpu_foo'" heddle bench a.mtx --kernel cpu_csr,cpu_foo
bad 'bad kernel option' 'slices' heddle mv a.mtx --kernel cpu_sell:slices=8
bad 'bad kernel option value' 'slice' heddle mv a.mtx --kernel cpu_sell:slice=7
bad 'bad family' "did you mean 'grid3d'" heddle gen gird3d:n=20 -o c.mtx
bad 'bad family key' "'m'" heddle gen grid3d:m=20 -o c.mtx
bad 'bad family value' 'n=-1' heddle gen grid3d:n=-1 -o c.mtx
bad 'family without a file' '-o FILE' heddle gen grid3d:n=20
bad 'bad set' 'nor a directory' heddle bench set:nosuch
bad 'bad member' "did you mean 'cant'" heddle info set:paper/cnat
bad 'a set where one matrix is meant' 'name one' heddle mv set:smoke
bad 'family where a file is meant' 'gen:grid3d' heddle info grid3d:n=20
bad 'a directory where a file is meant' 'set:' heddle info .

# ---------------------------------------------------------------- broken files
bad 'missing file' 'nosuch.mtx' heddle info nosuch.mtx
: >empty.mtx
bad 'empty file' 'empty.mtx' heddle info empty.mtx
head -c 3000 /dev/urandom >garbage.mtx
bad 'binary garbage' 'garbage.mtx' heddle info garbage.mtx
matrix banner.mtx '%%MatrixMarkt matrix coordinate real general\n1 1 1\n1 1 1\n'
bad 'wrong banner' 'banner.mtx' heddle info banner.mtx
matrix kind.mtx '%%MatrixMarket matrix coordinate quaternion general\n1 1 1\n1 1 1\n'
bad 'unknown kind of numbers' 'kind.mtx' heddle info kind.mtx
matrix complex.mtx '%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n'
bad 'complex matrix as a real one' 'complex' heddle mv complex.mtx --type f64
matrix size.mtx "${banner}1 1\n1 1 1\n"
bad 'bad size line' 'size.mtx:2' heddle info size.mtx
matrix range.mtx "${banner}2 2 2\n1 1 1\n1 3 1\n"
bad 'entry out of range' 'range.mtx:4' heddle info range.mtx
matrix zero.mtx "${banner}2 2 1\n0 1 1\n"
bad 'entry in row 0' 'zero.mtx:3' heddle info zero.mtx
matrix few.mtx "${banner}2 2 3\n1 1 1\n1 2 1\n"
bad 'too few entries' 'few.mtx' heddle info few.mtx
matrix many.mtx "${banner}2 2 1\n1 1 1\n1 2 1\n"
bad 'too many entries' 'many.mtx' heddle info many.mtx
matrix number.mtx "${banner}2 2 1\n1 1 1.2.3\n"
bad 'bad number' 'number.mtx:3' heddle info number.mtx
matrix huge.mtx "${banner}99999999999999999999 2 1\n1 1 1\n"
bad 'count that overflows' 'huge.mtx:2' heddle info huge.mtx
head -c 300 a.mtx >cut.mtx
bad 'truncated file' 'cut.mtx' heddle info cut.mtx
head -c 20000 b.mtx.gz >cut.mtx.gz
bad 'truncated gz' 'cut.mtx.gz' heddle info cut.mtx.gz
{ head -c 5000 b.mtx.gz; head -c 3000 /dev/zero; tail -c 5000 b.mtx.gz; } >bad.mtx.gz
bad 'corrupt gz' 'bad.mtx.gz' heddle info bad.mtx.gz
head -c 100000 b.hdl >cut.hdl
bad 'truncated hdl' 'cut.hdl' heddle info cut.hdl
{ head -c 40000 b.hdl; head -c 200 /dev/zero | tr '\0' '\377'; tail -c +40201 b.hdl; } >bad.hdl
bad 'corrupt hdl' 'bad.hdl' heddle info bad.hdl
head -c 200 b.rb >cut.rb
bad 'truncated rb' 'cut.rb' heddle info cut.rb
bad 'x of the wrong length' 'x.txt: has 3 numbers' heddle mv a.mtx --x x.txt -o z.mtx
printf '1 two 3' >words.txt
bad 'x that is not numbers' 'words.txt' heddle mv s.mtx --x words.txt
bad 'missing x' 'nox.txt' heddle mv s.mtx --x nox.txt
bad 'a broken file for check' 'range.mtx:4' heddle check range.mtx
bad 'a broken file for bench' 'range.mtx:4' heddle bench range.mtx --json z.jsonl
bad 'a broken file for convert' 'range.mtx:4' heddle convert range.mtx z.mtx

# ---------------------------------------------------------------- output that cannot be written
bad 'unknown ending' 'z.xyz' heddle convert s.mtx z.xyz
bad 'unwritable matrix' '/nosuch/' heddle gen grid2d:n=5 -o /nosuch/z.mtx
bad 'unwritable vector' '/nosuch/' heddle mv s.mtx -o /nosuch/y.mtx
bad 'unwritable records' '/nosuch/' heddle bench s.mtx --json /nosuch/r.jsonl
if [ -w /dev/full ]; then
    for command in 'mv s.mtx' 'info s.mtx' 'help' 'kernels --json' 'bench s.mtx --json -'; do
        # shellcheck disable=SC2086  # the words of a command
        heddle $command >/dev/full 2>"$work/err"
        rc=$?
        verdict "full disk: $command" \
            "$([ $rc -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
                grep -q 'standard output' "$work/err" || cat "$work/err")"
    done
fi
heddle mv a.mtx 2>"$work/err" | true
rc=${PIPESTATUS[0]}
verdict 'a closed pipe' "$([ "$rc" -eq 2 ] || [ "$rc" -eq 0 ] && [ "$(wc -l <"$work/err")" -le 1 ] ||
    echo "status $rc")"

# ---------------------------------------------------------------- report
if heddle version | grep -q 'reports: d3'; then
    good 'report writes a page' 'open it in any browser: file://' heddle report whole.jsonl -o page.html
    verdict 'the page is whole' "$(grep -q '</html>' page.html || echo 'it has no end')"
    bad 'unwritable page' '/nosuch/' heddle report whole.jsonl -o /nosuch/page.html
else
    bad 'report says what it misses' 'node-d3' heddle report whole.jsonl -o page.html
fi
good 'report draws' 'figures/profile.svg' heddle report whole.jsonl --svg figures --type f32 --op T \
    --baseline cpu_csr
for figure in profile gflops speedup means; do
    parsed=$([ -z "$python" ] || "$python" -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' \
        figures/$figure.svg 2>&1)
    verdict "the drawing $figure is XML" "$parsed"
done
{ cat whole.jsonl; echo '{"schema":1,'; echo '{"schema":7,"record":"run"}'; } >mixed.jsonl
run heddle report mixed.jsonl --svg figures
verdict 'wrong lines are named and left out' \
    "$([ $rc -eq 0 ] && grep -q 'mixed.jsonl:27: broken' "$work/err" &&
    grep -q 'mixed.jsonl:28: schema 7' "$work/err" || cat "$work/err")"
bad 'no records' 'nosuch.jsonl' heddle report nosuch.jsonl --svg figures
bad 'a folder of records' 'figures: cannot be read: Is a directory' heddle report figures --svg more
bad 'a device without runs' "the records hold devices" heddle report whole.jsonl --svg figures --device nobody
bad 'options of drawings without drawings' '--svg' heddle report whole.jsonl --cold -o page2.html
printf '\n' >empty.jsonl
bad 'records without a run' 'no verified run' heddle report empty.jsonl --svg figures

# ---------------------------------------------------------------- completion
good 'completion asks for commands' 'bench' heddle complete commands
good 'completion asks for kernels' 'cpu_csr' heddle complete kernels
good 'completion asks for peers' 'cusparse:csr_alg1' heddle complete peers
good 'completion asks for options' '--time-limit=' heddle complete options bench
good 'completion asks for sets' 'set:smoke' heddle complete sets
# shellcheck disable=SC1091
. "$source/scripts/heddle.bash"
complete_line() { # complete_line WORDS...: what stands in COMPREPLY for the last word
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _heddle
    printf '%s\n' "${COMPREPLY[@]}"
}
verdict 'a command is completed' "$([ "$(complete_line heddle ben)" = bench ] || complete_line heddle ben)"
verdict 'a kernel is completed' "$(complete_line heddle mv --kernel cpu_me | grep -q cpu_merge || echo no)"
verdict 'a family is completed' "$(complete_line heddle gen grid3 | grep -q grid3d || echo no)"
verdict 'a set is completed behind its colon' \
    "$([ "$(complete_line heddle info set : smo | head -1)" = smoke ] || echo no)"
verdict 'an experiment is completed' \
    "$([ "$(complete_line heddle reproduce hola-table2)" = hola-table2 ] || echo no)"
verdict 'an option of a command is completed' \
    "$([ "$(complete_line heddle bench a.mtx --time)" = --time-limit ] || echo no)"

# ---------------------------------------------------------------- the manual
manual=$(sed 's/\\-/-/g; s/\\f[BIR]//g' "$source/docs/heddle.1")
for command in $(heddle complete commands); do
    missing=''
    for option in $(heddle complete options "$command"); do
        grep -qF -- "${option%=}" <<<"$manual" || missing="$missing $option"
    done
    grep -q "heddle $command" <<<"$manual" || missing="$missing $command"
    verdict "the manual tells all about $command" "$missing"
done

# ---------------------------------------------------------------- leaks (in a build with AddressSanitizer)
export ASAN_OPTIONS="$with_leaks"
good 'bench does not leak' '2 verified' heddle bench s.mtx --time-limit 0.01 --no-cold --json leak.jsonl
good 'compare does not leak' '0 slower' heddle compare leak.jsonl leak.jsonl
good 'check does not leak' ' 0 wrong' heddle check s.mtx
bad 'errors do not leak' 'range.mtx:4' heddle bench range.mtx

told
