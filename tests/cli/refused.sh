#!/usr/bin/env bash
# refused.sh RESTRIDE: what is wrong with a command is told in one sentence, before the work, and nothing is written.
restride=$1
source "$(dirname "$0")/expect.sh"

# refuses STATUS PATTERN VERB ARGUMENTS...
refuses() {
    local status=$1 pattern=$2
    shift 2
    expect "$status" "$restride" "$@"
    says err "^restride $1[^:]*: .*$pattern"
    [ "$(wc -l <"$work/err")" -eq 1 ] || complain "not one sentence: $*"
    [ ! -s "$work/out" ] || complain "writes to standard output: $*"
}

cd "$work" || exit 1
mkdir folder files
cd files || exit 1
: >empty
printf 'typedef struct { float x, y; } P;\n__kernel void f(__global P *a) { a[0].x = 1; }\n' >k.cl
printf 'void f(float A[64][64]) { for (int i = 0; i < 64; i++) A[i][0] = 1; }\n' >l.c
printf 'struct P { float x, y; };\ncudaStream_t stream;\nint main() { cudaMalloc(0, 1); }\n' >host.cu
printf '\nstruct P { float x y; };\n' >broken.cu
printf 'struct P { float x[2]; };\n__kernel void f(__global struct P *a) { a[N].x[0] = 1; }\n' >macro.cl
printf '__kernel void f(__global float *a) { a[0] = ; }\n' >flat.cl
printf '__kernel void f(__global WORD *a) { a[0] = 1; }\n' >type.cl
printf 'kept\n' >kept.html
touch --date='2001-01-01' -- *
ls -l --time-style=full-iso >"$work/before"
# built VERB: whether this build has it; one that it leaves out says what the build takes.
built() {
    "$restride" "$1" --help >"$work/out" 2>"$work/err" && return 0
    refuses 1 'This build is without [A-Z0-9a-z ]* \(RESTRIDE_[A-Z]*\); build Restride with it' "$1"
    return 1
}
runs='' rewrites='' analyzes='' sims=''
built run && runs=yes
built rewrite && rewrites=yes
built analyze && analyzes=yes
built sim && sims=yes

refuses 2 '-x is not an option' show 'i f' -x
refuses 2 '--json takes no value' doctor --json=3
refuses 2 '--accessors takes cpp or cuda, not "c"' show 'i f' --accessors c
if [ -n "$runs" ]; then
    refuses 2 '--plicy is not an option; restride run --help lists them' run --plicy asta -- true
    refuses 2 '--policy needs a value; restride run --help explains it' run --policy
    refuses 2 'missing could not be opened' run --baseline missing -- true
    refuses 2 'empty is no JSON report' run --baseline empty -- true
    refuses 2 'l.c is no JSON report' run --baseline l.c -- true
fi
if [ -n "$runs" ] && [ -n "$rewrites" ]; then
    refuses 127 'missing could not be started' run --report kept.html -- ./missing
    # The program runs all the same, and each report that cannot be written is told once.
    expect 1 "$restride" run --quiet --report /nonexistent/x.html -- echo ran
    says out '^ran$'
    [ "$(wc -l <"$work/err")" -eq 1 ] || complain "an unwritable report is told more than once"
    # Without a temporary folder the program runs, too; only a report that was asked for is missed.
    expect 0 env TMPDIR=/nonexistent "$restride" run -- true
    says err 'is TMPDIR right'
    says err 'what was transformed is not known'
    expect 1 env TMPDIR=/nonexistent "$restride" run --report ../none.json -- true
fi
# What may have no end is not read, and what may never have a beginning not waited for.
mkfifo "$work/pipe"
for verb in rewrite analyze reorder; do
    case $verb in rewrite) [ -n "$rewrites" ] || continue ;; analyze) [ -n "$analyzes" ] || continue ;; esac
    options=()
    [ "$verb" != reorder ] || options=(--objects 4 --type 4)
    for endless in /dev/zero "$work/pipe" "$work/folder"; do
        expect 1 timeout 20 "$restride" "$verb" "$endless" "${options[@]}"
        says err "^restride $verb: $endless is not a regular file; write what it has into a file first"
    done
done
if [ -n "$rewrites" ]; then
    refuses 2 'not a tile size' rewrite k.cl --tile 99999999999999999999
    expect 1 "$restride" rewrite k.cl --header ../folder
    [ ! -s "$work/out" ] || complain "the kernel is written though its header cannot be"
    refuses 2 'host.cu is CUDA C\+\+, whose flat arrays' rewrite host.cu --record 'a: 20'
    refuses 2 'No kernel has an argument a that' rewrite host.cu --layout 'a: f i'
    refuses 1 'broken.cu:2: ' rewrite broken.cu
    refuses 1 "undeclared identifier 'N'.*-- -DN=8" rewrite macro.cl
    refuses 1 "unknown type name 'WORD'.*-- -DN=8" rewrite type.cl
    refuses 1 'flat.cl:1: expected expression' rewrite flat.cl -o new.cl # though it declares no structure
    expect 1 "$restride" rewrite flat.cl --json
    says out '"reason": "expected expression"'
    says err '^restride rewrite: flat.cl:1: expected expression$'
    expect 0 "$restride" rewrite empty
    says err 'no kernel here has an array of structures'
fi
if [ -n "$analyzes" ]; then
    refuses 2 'l.c has no loop "z"' analyze l.c --threads i,z
    refuses 2 '2, 4, 8 or 16' analyze l.c --width 3
    refuses 2 'vector, memory or layout, not "fast"' analyze l.c --apply fast
    refuses 2 '--warp takes a number from 1 to 1048576, not "0"' analyze l.c --warp 0
    refuses 2 '--set takes NAME=NUMBER, not "N"' analyze l.c --set N
    refuses 2 '--group takes .* not "1,2,3,4"' analyze l.c --group 1,2,3,4
    refuses 1 'no grid q' analyze l.c --apply layout --layout 'q: j i'
    expect 0 "$restride" analyze l.c --apply vector # the kernels on standard output, what was done beside them
    says err '^f, line 1: '
    name=$(printf '\377.cl')
    cp k.cl "../folder/$name"
    expect 0 "$restride" analyze "../folder/$name" # a name that is not UTF-8
    says out '\(OpenCL C\)$'
fi
if [ -n "$sims" ]; then
    printf 'x = 1\n' >"$work/unknown.ini"
    [ -z "$runs" ] || refuses 2 'unknown.ini: the option "x" is unknown' run --config "$work/unknown.ini" -- true
    refuses 1 'no device "nosuch", and no file' sim --dims 'i:9 f:2' --layout 'i f' --device nosuch
    refuses 1 'host.cu is CUDA C\+\+' sim host.cu --global 64
fi
refuses 2 'f32 or float32' transpose empty --shape 2x3 --dtype float
refuses 1 'would take 24' transpose empty --shape 2x3 --dtype float32
refuses 1 'save the array with numpy.save' reorder empty --objects 5 --type f32
printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }" >../index.npy
printf '\376\377\377\377' >>../index.npy
refuses 1 'a negative number' reorder ../index.npy --objects 3 --type f32
ls -l --time-style=full-iso | cmp - "$work/before" || complain "something was written or changed"
finish
