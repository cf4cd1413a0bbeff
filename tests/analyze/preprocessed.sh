#!/usr/bin/env bash
# preprocessed.sh RESTRIDE CC: what --apply layout writes is preprocessed but for the headers that it leaves to the compiler.
# Each case is a program whose macros and headers decide what it prints; the program that is written prints the same, or
# there is none, with the line that is the reason.
restride=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../cli/expect.sh"
cd "$work" || exit 1
mkdir -p far std
export C_INCLUDE_PATH=$work/std

# Lines 1 to 3 of every program are behind the text of a case, which uses VALUE.
use='static double k(int n, int m, float g[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) g[i][j] = i + 3 * j; return g[2][3]; }
int main(void) { int n = 9, m = 7; float (*g)[m] = malloc(n * sizeof *g); printf("%.9g ", k(n, m, g)); free(g);
printf("%.9g\n", (double)(VALUE)); return 0; }'
strict='-Werror=implicit-function-declaration'
count=0
# write TEXT: the program of a case, and what is said of it, with the folder far in its options.
write() {
    count=$((count + 1))
    printf '%s\n%s\n' "$1" "$use" >"case_$count.c"
    rm -f new.c
}
# same TEXT [OPTIONS]: is changed and prints the same.
same() {
    write "$1"
    # shellcheck disable=SC2086
    {
        expect 0 "$restride" analyze --apply layout "case_$count.c" --layout 'g: i/4 j i%4' -o new.c -- -Ifar $2
        grep -q '_offset(' new.c || complain "case $count was not changed: $(cat "$work/out" "$work/err")"
        expect 0 "$cc" $strict -Ifar $2 -o old "case_$count.c" -lm
        expect 0 "$cc" $strict -Ifar $2 -o new new.c -lm
    }
    [ "$(./old)" = "$(./new)" ] || complain "case $count prints $(./new), not $(./old)"
}
# refused REASON TEXT: is told, with its line.
refused() {
    write "$2"
    expect 1 "$restride" analyze --apply layout "case_$count.c" --layout 'g: i/4 j i%4' -o new.c -- -Ifar
    says err "$1"
    [ ! -e new.c ] || complain "case $count was written"
}
std='#include <stdio.h>
#include <stdlib.h>'

# What the compiler's headers ask for stands before all of them, those of the user's headers too.
same '#define _GNU_SOURCE
#include <string.h>
'"$std"'
#define VALUE (*(char *)((char *)mempcpy(malloc(4), "abc", 3) - 1))'
printf '#include <string.h>\n#define LENGTH strlen\n' >lengths.h
same '#define _GNU_SOURCE
#include "lengths.h"
'"$std"'
static char text[4];
#define VALUE (*(char *)((char *)mempcpy(text, "abc", 3) - 1) + LENGTH(text))'
same '#define __STDC_LIMIT_MACROS
#define _USE_MATH_DEFINES
#define _FILE_OFFSET_BITS 64
#include <sys/types.h>
'"$std"'
#define VALUE sizeof(off_t)'
printf '#pragma pack(push, 1)\n#include <packed.h>\n#pragma pack(pop)\n' >packing.h
printf 'struct packed { char c; double d; };\n' >std/packed.h
printf '#ifndef ELEMENT\n#define ELEMENT float\n#endif\ntypedef ELEMENT element;\n' >std/element.h
same "$std"'
#include "packing.h"
static unsigned long size(void) { return sizeof(struct packed); }
#define VALUE size()'
same "$std"'
#define ELEMENT double
#include <element.h>
#define VALUE sizeof(element)'
same "$std"'
static int ELEMENT = 3;
#define VALUE ELEMENT'
refused 'case_'$((count + 1))'.c:5: The source cannot be written again' "$std"'
static int ELEMENT = 3;
#define ELEMENT double
#include <element.h>
#define VALUE sizeof(element)'

# Conditions about macros of the compiler's headers, and of those that only its own folders have.
printf '#define USE_STEP 1\n#define STEP 5\n' >std/step.h
same "$std"'
#include <step.h>
#ifndef STEP
#define STEP 2
#endif
#define VALUE STEP'
same "$std"'
#include <limits.h>
#include <math.h>
#ifndef M_PI
#define M_PI 3.1f
#endif
#if INT_MAX > 40000 && defined __GNUC__
#define VALUE M_PI
#else
#define VALUE 1
#endif'
same "$std"'
#ifndef M_PI
#define M_PI 3.1f
#endif
#include <math.h>
#define VALUE M_PI'
refused 'case_'$((count + 1))'.c:11: The source cannot be written again' "$std"'
#ifndef STEP
#define BEFORE 2
#endif
#include <step.h>
#ifdef STEP
#define BEHIND 3
#endif
#define VALUE BEFORE + BEHIND
int before = VALUE;'
same "$std"'
#include <limits.h>
#if UINT_MAX == 0xffffffffu && CHAR_BIT == 8
#define VALUE 8
#else
#define VALUE 1
#endif'
refused 'case_'$((count + 1))'.c:11: The source cannot be written again' "$std"'
#if __has_include(<step.h>)
#define VALUE 8
#else
#define VALUE 1
#endif
int check(void)
{
    return printf("%d\n",
                  VALUE);
}'
cp std/step.h far/far_step.h
same "$std"'
#include <far_step.h>
#ifdef USE_STEP
#define VALUE STEP
#else
#define VALUE 2
#endif'
rm far/far_step.h
refused 'case_'$((count + 1))'.c:3: The header far_step.h was not found' "$std"'
#include <far_step.h>
#ifdef USE_STEP
#define VALUE STEP
#else
#define VALUE 2
#endif'
same "$std"'
#ifdef _OPENMP
#define VALUE 1
#else
#define VALUE 2
#endif' -fopenmp
write '#define VALUE 1'
expect 1 "$restride" analyze --apply layout "case_$count.c" -o new.c -- -include stdio.h
says err 'The option -include changes how the source is read'
# What the headers' macros make of variables of the file is nothing to grids that these do not name.
same "$std"'
#include <limits.h>
#include <stdint.h>
#include <pthread.h>
static uint32_t most = UINT32_MAX;
static int64_t last = INT64_MAX;
static char buffer[BUFSIZ], path[PATH_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int length(void) { return pthread_mutex_lock(&mutex) + (int)sizeof buffer + path[0]; }
#define VALUE (most + last / 2 + length())'
same "$std"'
#include <limits.h>
enum { BITS = CHAR_BIT * 2 };
static int bits[CHAR_BIT];
static int of(int x) { switch (x) { case EXIT_FAILURE: return 1; case EOF: return 2; } return bits[3]; }
#define VALUE (BITS + of(EOF) + (int)sizeof bits)'
write "$std"'
static double k(int n, int m, float g[n][m]);
static char buffer[FILENAME_MAX];
static double (*table[FILENAME_MAX])(int n, int m, float g[n][m]) = {k};
#define VALUE table[0] != 0'
expect 0 "$restride" analyze --apply layout "case_$count.c" --layout 'g: i/4 j i%4' -o new.c
says out "kept: case_$count.c:5: the compiler does not understand what is here"
expect 0 "$restride" analyze --apply layout "case_$count.c" --layout 'g: i/4 j i%4' -o new.c
mkdir -p atomic
printf '#include <stdatomic.h>\n__global__ void k(float *a, cudaTextureObject_t t) { int l = threadIdx.x; a[l] = tex1Dfetch<float>(t, l); }\n' >atomic/k.cu
expect 0 "$restride" analyze atomic/k.cu
says out 'write a.l.'
! grep -q -e 'not found' -e 'The compiler says' out err || complain "an atomic header or a texture is not known"

# Pragmas are written as they are, so their macros are there.
same "$std"'
#define COUNT 4
static int sum(void) { int s = 0;
#pragma omp parallel for num_threads(COUNT) reduction(+ : s)
    for (int i = 0; i < 9; i++) s += i;
    return s; }
#define VALUE sum()' -fopenmp

# assert() has the lines of the output.
same '#include <assert.h>
'"$std"'
static int checked(int n) { assert(n !=
    0); return n; }
#define VALUE checked(3)'

# Where a header reads otherwise, the line that includes it is told, the first one of all, too.
refused 'case_'$((count + 1))'.c:3: The source cannot be written again' '#define malloc my_malloc
#include <stdio.h>
#include <stdlib.h>
#undef malloc
#define VALUE 1'
refused 'foo.y:101: The preprocessor says: #error "no"' "$std"'
#line 100 "foo.y"
#define VALUE 1
#error "no"'
# Names of files may have to be quoted.
for name in 'we"ird' 'back\slash' $'\xC3\xA4'; do
    write "$std"'
#define VALUE 1'
    mv "case_$count.c" "$name.c"
    expect 0 "$restride" analyze --apply layout "$name.c" --layout 'g: i/4 j i%4' -o new.c
    grep -q '_offset(' new.c || complain "$name.c was not changed: $(cat "$work/out" "$work/err")"
done

# The header beside the source is the one, before those of the options and not that of the folder one is in.
mkdir -p there
for folder in . far there; do printf 'enum { FOLDER = %d };\n' "${#folder}" >$folder/folder.h; done
printf 'enum { FAR = 1 };\n' >far/only_far.h
printf 'enum { FAR = 2 };\n' >only_far.h
printf '#include <stdio.h>\n#include "folder.h"\n#include "only_far.h"\nint main(void) { return printf("%%d %%d\\n", FOLDER, FAR) < 0; }\n' >there/main.c
expect 0 "$restride" analyze --apply layout there/main.c -o new.c -- -Ifar
expect 0 "$cc" -o new new.c
[ "$(./new)" = '5 1' ] || complain "headers of other folders are read: $(./new)"
for header in '/* own */ "folder.h"' FOLDER_H; do
    printf '#include <stdio.h>\n#define FOLDER_H "folder.h"\n#include %s\nint main(void) { return printf("%%d\\n", FOLDER) < 0; }\n' "$header" >there/main.c
    expect 0 "$restride" analyze --apply layout there/main.c -o new.c
    expect 0 "$cc" -o new new.c
    [ "$(./new)" = 5 ] || complain "#include $header reads a header of another folder"
done

# Headers of CUDA's stay where they are found, and others are read.
mkdir -p cuda
: >cuda/cuda_runtime.h
printf 'enum { CUB = 1 };\n' >cuda/tiles.cuh
printf 'enum { MINE = 1 };\n' >far/mine.cuh
printf '#include <tiles.cuh>\n#include <mine.cuh>\nint k(void) { return MINE; }\n' >headers.cu
expect 1 "$restride" analyze --apply layout headers.cu -o new.cu -- -Ifar
says err 'headers.cu:1: The header tiles.cuh was not found'
expect 0 "$restride" analyze --apply layout headers.cu -o new.cu -- -Icuda -Ifar
[ "$(grep -c -e '^#include <tiles.cuh>' -e '^enum { MINE' new.cu)" = 2 ] || complain "headers of CUDA are not left alone"

# CUDA has two readings.
printf '__host__ __device__ int side(void)\n{\n#ifdef __CUDA_ARCH__\n    return 1;\n#else\n    return 2;\n#endif\n}\n' >sides.cu
expect 1 "$restride" analyze --apply layout sides.cu -o new.c
says err 'sides.cu:3: The source cannot be written again: __CUDA_ARCH__ chooses other lines'
printf '#include "sides.cu"\n' >indirect.cu
expect 1 "$restride" analyze --apply layout indirect.cu -o new.c
says err 'sides.cu:3: The source cannot be written again: __CUDA_ARCH__ chooses other lines'
expect 0 "$restride" analyze --apply layout sides.cu -o new.c -- -D__CUDA_ARCH__=800

# Conditions of CUDA and OpenCL C have answers where all compilers of the language agree.
cuda='// restride: grid g[n][m]
__global__ void k(int n, int m, float *g, float *o) { int i = threadIdx.x; for (int j = 0; j < m; j++) o[i] += g[i * m + j] + VALUE; }'
opencl='// restride: grid g[n][m]
__kernel void k(int n, int m, __global float *g, __global float *o) { int i = get_global_id(0); for (int j = 0; j < m; j++) o[i] += g[i * m + j] + VALUE; }'
# answered ENDING TEXT WANTED [OPTIONS]: is written, and has WANTED.
answered() {
    count=$((count + 1))
    [ "$1" = cu ] && kernel=$cuda || kernel=$opencl
    printf '%s\n%s\n' "$2" "$kernel" >"case_$count.$1"
    # shellcheck disable=SC2086
    expect 0 "$restride" analyze --apply layout "case_$count.$1" --layout 'g: i/4 j i%4' -o "new.$1" -- $4
    grep -q "$3" "new.$1" || complain "case $count has no $3: $(cat "new.$1")"
    grep -q '_offset(' "new.$1" || complain "case $count was not changed: $(cat "$work/out" "$work/err")"
}
# unanswered ENDING LINE NAME TEXT [OPTIONS]: is refused there for the name.
unanswered() {
    count=$((count + 1))
    [ "$1" = cu ] && kernel=$cuda || kernel=$opencl
    printf '%s\n%s\n' "$4" "$kernel" >"case_$count.$1"
    # shellcheck disable=SC2086
    expect 1 "$restride" analyze --apply layout "case_$count.$1" --layout 'g: i/4 j i%4' -o "new.$1" -- $5
    says err "case_$count.$1:$2: The source cannot be written again: $3 "
}
# choice TEXT: two values by the condition.
choice() { printf '%s\n#define VALUE 11\n#else\n#define VALUE 22\n#endif' "$1"; }
for ending in cu cl; do
    answered $ending "$(choice '#ifdef DEBUG')" '+ 22'
    answered $ending "$(choice '#ifdef DEBUG')" '+ 11' -DDEBUG
    answered $ending $'#ifndef VALUE\n#define VALUE 33\n#endif' '+ 33'
    answered $ending $'#ifndef __OWN_H__\n#define __OWN_H__\n#define VALUE 33\n#endif' '+ 33'
    answered $ending $'#ifndef CUDA_OWN_H\n#define CUDA_OWN_H\n#define VALUE 33\n#endif' '+ 33'
    answered $ending "$(choice '#if defined _WIN32 || defined __APPLE__')" '+ 22'
    unanswered $ending 1 __GNUC__ "$(choice '#ifdef __GNUC__')"
    unanswered $ending 2 __GNUC__ "$(choice $'#if defined DEBUG || \\\n defined __GNUC__')"
    answered $ending "$(choice '#ifdef __GNUC__')" '+ 22' -U__GNUC__
    answered $ending "$(choice '#if __GNUC__ > 3')" '+ 11' -D__GNUC__=13
    unanswered $ending 1 __has_attribute "$(choice '#if defined __has_attribute && __has_attribute(unused)')"
    unanswered $ending 1 __STDC_VERSION__ "$(choice '#if __STDC_VERSION__ >= 199901L')"
done
answered cu "$(choice '#ifdef __CUDACC__')" '+ 11'
answered cu "$(choice '#ifdef __cplusplus')" '+ 11'
answered cu "$(choice '#if __cplusplus >= 201103L')" '+ 11'
answered cu "$(choice '#ifdef __OPENCL_VERSION__')" '+ 22'
answered cu "$(choice $'#include <limits.h>\n#if INT_MAX > 70000')" '+ 11'
answered cu $'#include <math.h>\n#ifndef M_PI\n#define M_PI 3.1f\n#endif\n#define VALUE M_PI' '+ M_PI'
unanswered cu 1 __cplusplus "$(choice '#if __cplusplus >= 201703L')"
answered cu "$(choice '#if __cplusplus >= 201703L')" '+ 22' -D__cplusplus=201402L
unanswered cu 1 __CUDACC_VER_MAJOR__ "$(choice '#if __CUDACC_VER_MAJOR__ >= 9')"
unanswered cu 2 CUDART_VERSION "$(choice $'#include <cuda_runtime.h>\n#if CUDART_VERSION >= 9000')"
unanswered cu 1 __device__ $'#ifndef __device__\n#define __device__\n#endif\n#define VALUE 1'
unanswered cu 2 FLT_DIG "$(choice $'#include <cfloat>\n#ifdef FLT_DIG')"
answered cl "$(choice '#ifdef __OPENCL_VERSION__')" '+ 11'
answered cl "$(choice '#ifdef __CUDACC__')" '+ 22'
answered cl "$(choice '#if __OPENCL_VERSION__ >= 120')" '+ 11'
unanswered cl 1 __OPENCL_VERSION__ "$(choice '#if __OPENCL_VERSION__ >= 200')"
unanswered cl 1 __OPENCL_C_VERSION__ "$(choice '#if __OPENCL_VERSION__ >= 200 && __OPENCL_C_VERSION__ >= 200')" -D__OPENCL_VERSION__=300
answered cl "$(choice '#if __OPENCL_VERSION__ >= 200')" '+ 11' -D__OPENCL_VERSION__=300
unanswered cl 1 cl_khr_fp16 "$(choice '#ifdef cl_khr_fp16')"
unanswered cl 1 cl_khr_fp64 "$(choice '#ifdef cl_khr_fp64')"
answered cl $'#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#else\n#error no double\n#endif\n#define VALUE 1.5' '+ 1.5'
unanswered cl 1 M_PI_F $'#ifndef M_PI_F\n#define M_PI_F 3.1f\n#endif\n#define VALUE M_PI_F'
answered cl $'#ifndef M_PI_F\n#define M_PI_F 3.1f\n#endif\n#define VALUE M_PI_F' '+ 3.1f' -UM_PI_F

# A function that a header declares keeps its type.
printf 'double declared(int n, int m, float g[n][m]);\nstruct k { int k; };\n' >std/declared.h
write "$std"'
#include <declared.h>
double declared(int n, int m, float g[n][m]) { return g[2][3]; }
#define VALUE 1'
expect 0 "$restride" analyze --apply layout "case_$count.c" --layout 'g: i/4 j i%4' -o new.c
says out 'g .line 4.: kept: case_'$count'.c:4: g is a parameter of a function that a header declares'
expect 0 "$cc" -w -o new new.c

# A byte order mark is none of the source.
same $'\xEF\xBB\xBF'"$std"'
#define VALUE 1'
finish
