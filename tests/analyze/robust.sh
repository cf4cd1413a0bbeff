#!/usr/bin/env bash
# robust.sh RESTRIDE: what restride analyze says of sources that are broken, incomplete or unusual, and its forms of output.
restride=$1
source "$(dirname "$0")/../cli/expect.sh"
cd "$work"

cat >good.c <<'END'
void add(int n, float x[], float y[]) { for (int i = 0; i < n; i++) x[i] = y[2 * i + 1]; }
END
expect 0 "$restride" analyze good.c
says out 'function add, line 1'
says out 'M \[2\]  o \[1\]'
says out 'shifted \+ non-unit stride'
expect 0 "$restride" analyze good.c --json
python3 - out <<'END' || complain "the JSON of good.c is not what it should be"
import json, sys
reply = json.load(open(sys.argv[1]))
unit, = reply["units"]
read, write = unit["references"]
assert (read["matrix"], read["offset"]) == ([["2"]], ["1"]), read
assert (write["matrix"], write["write"], write["columns"][0]["between"]) == ([["1"]], True, True), write
END
expect 0 "$restride" analyze good.c --html -o page.html
grep -q '<svg class="pattern"' page.html || complain "the page has no picture"
printf 'void a(int n, float x[]) { for (int i = 1; i < n; i++) x[i - 1] = 1; }\nvoid b(int n, float x[]) { for (int i = 0; i < n; i++) x[i] = 1; }\n' >two.c
expect 0 "$restride" analyze two.c --html -o two.html
for part in '<a href="#unit-1">b</a>' '<h2 id="unit-1">' '<rect class="first" x="19"'; do
    grep -qF "$part" two.html || complain "the page of two functions has no $part"
done
if grep -qE '(src|href)="?http' page.html; then complain "the page needs the network"; fi
expect 0 "$restride" analyze good.c --threads none
says out 'carries nothing$'

# More values under one name than get numbers: nothing is said rather than two of them taken for one.
{
    printf 'int g(int);\nvoid f(float *x, int n)\n{\n    for (int i = 0; i < n; i++) {\n        int k = 0;\n'
    yes '        k = g(k);' | head -n 1100
    printf '        float t = x[k + i];\n        k = g(k);\n        x[k + i] = t;\n    }\n}\n'
} >many.c
expect 0 "$restride" analyze many.c
says err 'f is too large; only its first part is analyzed'
! grep -q 'carries nothing' out || complain "two values with one name are one"

# Missing headers and names, and code that does not parse: a sentence each, and the rest is analyzed.
cat >broken.c <<'END'
#include "not_there.h"
#include <stdio.h>
void first(real_t *x, int n) { for (int i = 0; i < n; i++) x[i] = SCALE * x[i]; }
void second(int n { }
void third(float *x, int n) { for (int i = n - 1; i >= 0; i--) x[i] = 0; }
END
expect 0 "$restride" analyze broken.c
says err '^broken.c:1: not_there.h was not found'
says err '^broken.c:4: '
says out 'function first, line 3'
says out 'function third, line 5'
says out 'reverse linear'

cat >odd.cl <<'END'
int depth(__global int *p, int n) { return n == 0 ? p[0] : depth(p, n - 1) + p[n]; }
#define HIDE(kernel_name, body) __kernel void kernel_name(__global float *a, __global int *b) { body }
HIDE(hidden, int i = get_global_id(0); a[i] = b[i];)
__kernel void calls(__global int *p) { p[get_global_id(0)] = depth(p, 3); }
__kernel void assembly(__global int *p) { int i = get_global_id(0); __asm__("nop"); p[i] = 1; }
END
expect 0 "$restride" analyze odd.cl
says err '^odd.cl:1: depth calls itself'
says err '^odd.cl:5: Inline assembly'
says out 'kernel hidden, line 3'
says out 'kernel calls'
says out 'kernel assembly'

cat >launch.cu <<'END'
#include <cuda_runtime.h>
template <class T> __global__ void turn(T *out, const T *in, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * w + y] = in[y * w + x];
}
int main() { turn<float><<<dim3(1, 1), 32>>>((float *)0, (float *)0, 7); }
END
expect 0 "$restride" analyze launch.cu
says out 'kernel turn'
says out 'M \[0 1; 1 0\]'
says out "layout 'out: c r'"
[ ! -s err ] || complain "launch.cu is not read without a note: $(cat err)"
[ "$(grep -c 'kernel turn' out)" -eq 1 ] || complain "the template stands beside its instance"
sed '/^int main/d' launch.cu >open.cu
expect 0 "$restride" analyze open.cu
says out 'kernel turn'
says err 'open.cu:2: turn is a template that nothing here makes an instance of'

# Deep nesting and long expressions end with a sentence.
{ echo 'void f(int *a) {'; for _ in $(seq 3000); do echo -n 'if (a[0]) {'; done; for _ in $(seq 3000); do echo -n '}'; done; echo '}'; } >deep.c
"$restride" analyze deep.c >out 2>err
[ $? -le 1 ] && [ -s err ] || complain "deep nesting ends badly: $(head -c 300 err)"

: >empty.c
expect 0 "$restride" analyze empty.c
says out 'No kernel'
expect 1 "$restride" analyze missing.c
expect 2 "$restride" analyze
expect 2 "$restride" analyze good.c --burst 0
finish
