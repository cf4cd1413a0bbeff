#!/usr/bin/env bash
# folders.sh RESTRIDE: the headers of a kernel on the command line are those beside it, not those of the folder one is in.
restride=$1
source "$(cd "$(dirname "$0")" && pwd)/../cli/expect.sh"
cd "$work" || exit 1
mkdir -p there/sub
printf 'typedef struct { float x; int y; } P;\n' >there/p.h
printf '#include "deep.h"\n' >there/sub/outer.h
cp there/p.h there/sub/deep.h
printf 'typedef struct { float z; double x; int y; } P;\n' | tee p.h >deep.h
count=0
# beside NAME TEXT [OPTIONS]: the record in NAME is that of the folder "there".
beside() {
    count=$((count + 1))
    printf '%s\n' "$2" >"there/$count$1"
    # shellcheck disable=SC2086
    expect 0 "$restride" rewrite "there/$count$1" -o "new$1" -- $3
    says err 'f.a: transformed to "i/32 f i%32"'
    ! grep -q double "new$1" || complain "there/$count$1 has a header of another folder"
}
for ending in .cu .cl; do
    qualifier=__global__ within=
    [ $ending = .cu ] || { qualifier=__kernel within='__global '; }
    f="$qualifier void f(${within}P *a, int n) { a[1].x = n; }"
    beside $ending $'#include "p.h"\n'"$f"
    beside $ending $'/* the\n record */ # /* here */ include /* own */ \\\n"p.h"\n'"$f"
    beside $ending $'#define H "p.h"\n#include H // by name\n'"$f"
    beside $ending $'#define H(name) <name.h>\n#include H(p)\n'"$f" -Ithere
    beside $ending $'#include "sub/outer.h"\n'"$f"
done
# What is not beside a kernel of OpenCL C is looked for where its compilers do, in the working directory.
mkdir -p kernels
printf '#include "there/p.h"\n__kernel void f(__global P *a, int n) { a[1].x = n; }\n' >kernels/k.cl
expect 0 "$restride" rewrite kernels/k.cl -o new.cl
says err 'f.a: transformed'
printf '#include "there/p.h"\n__global__ void f(P *a, int n) { a[1].x = n; }\n' >kernels/k.cu
expect 1 "$restride" rewrite kernels/k.cu -o new.cu
says err "kernels/k.cu:1: 'there/p.h' file not found"
cp there/p.h kernels/other.h
printf '#include "other.h"\n__global__ void f(P *a, int n) { a[1].x = n; }\n' >there/k.cu
expect 0 "$restride" rewrite there/k.cu -o new.cu -- -Ikernels
says err 'f.a: transformed to "i/32 f i%32"'
# A byte order mark is none of the source.
beside .cu $'\xEF\xBB\xBF#include "p.h"\n__global__ void f(P *a, int n) { a[1].x = n; }'
finish
