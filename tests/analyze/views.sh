#!/usr/bin/env bash
# views.sh RESTRIDE: one memory seen in several ways, through casts, rows, members, loaded pointers and vectors. Each function is
# followed by what its loop i carries, worked out by hand.
restride=$1
source "$(dirname "$0")/../cli/expect.sh"
cd "$work"

# carried NAME EXPECTED: by the loop over i in the function or kernel NAME.
carried() {
    grep -A9 -E "^(function|kernel) $1," out | grep -m1 -E "loop i( |:)" >line
    grep -qE "carries $2$" line || complain "$1: $(cat line), not: carries $2"
}

# check LINES HEAD: the lines are "EXPECTED | DEFINITION" and stand behind HEAD; the functions are f1, f2...
check() {
    sed -E 's/^[^|]*\| //' "$1" | awk '{ n++; sub(/f\(/, "f" n "("); print }' >"$2.body"
    cat "$2" "$2.body" >"source.$2"
    expect 0 "$restride" analyze "source.$2"
    local n=0 expected
    while IFS= read -r expected; do
        n=$((n + 1))
        carried "f$n" "$(sed -E 's/ *\|.*//' <<<"$expected")"
    done <"$1"
}

cat >c.c <<'END_OF_HEAD'
struct record { int n; float *p; float v[4]; };
struct pointers { int *p, *q; };
END_OF_HEAD
cat >functions <<'END_OF_FUNCTIONS'
a value through \(char \*\)x .* | void f(int *x) { char *c = (char *)x; for (int i = 0; i < 9; i++) c[4 * i + 4] = x[i]; }
nothing | void f(int *x) { char *c = (char *)x; for (int i = 0; i < 9; i++) c[4 * i + 3] = x[i]; }
a value through .* | void f(float *x) { float (*m)[10] = (float (*)[10])x; for (int i = 1; i < 9; i++) m[i][0] = x[10 * i - 10]; }
nothing | void f(float *x) { float (*m)[10] = (float (*)[10])x; for (int i = 1; i < 9; i++) m[i][0] = x[10 * i - 1]; }
a value through x, perhaps .* | void f(float x[10][10]) { float *r = &x[0][0]; for (int i = 1; i < 9; i++) x[i][0] = r[10 * i - 10]; }
a value through .* | void f(float x[10][10]) { float *r = (float *)x; for (int i = 1; i < 9; i++) x[i][0] = r[10 * i - 10]; }
a value through x .* | void f(float x[10][10]) { for (int i = 1; i < 9; i++) x[i][0] = (*x)[10 * i - 10]; }
a value through x .* | void f(float x[10][10]) { for (int i = 1; i < 9; i++) x[i][10] = x[i][0]; }
nothing | void f(float x[10][10]) { for (int i = 1; i < 9; i++) { float *r = x[i]; for (int j = 0; j < 10; j++) r[j] = r[j] + 1; } }
a value through x .* | void f(int x[10][6]) { int (*t)[2][3] = (int (*)[2][3])x; for (int i = 0; i < 9; i++) t[i][1][0] = x[i + 1][3]; }
a value through x .* | void f(int *x) { int *p = (int *)((char *)x + 4); for (int i = 0; i < 9; i++) p[i] = x[i]; }
a value through x, perhaps .* | void f(int *x) { int *p = (int *)((long)x + 4); for (int i = 0; i < 9; i++) p[i] = x[i]; }
a value through .* | void f(int *x) { void *v = x; short *p = v; for (int i = 0; i < 9; i++) p[i + 1] = x[i]; }
a value through .* | void f(struct record *x) { for (int i = 0; i < 9; i++) { int *q = &x[i].n; q[8] = 2; x[i].n = q[0]; } }
nothing | void f(struct record *x) { for (int i = 0; i < 9; i++) { float *q = &x[i].v[1]; q[1] = x[i].v[0]; } }
a value through x .* | void f(float **x) { for (int i = 0; i < 9; i++) x[i] = x[i + 1]; }
a value through x, perhaps .* | void f(float **x) { for (int i = 0; i < 9; i++) x[i][0] = 1; }
nothing | void f(float **x, float *y) { for (int i = 0; i < 9; i++) x[0][i] = y[i]; }
a value through x .* | void f(struct record *x) { for (int i = 0; i < 9; i++) x[i].p = x[i + 1].p; }
a value through .*, perhaps .* | void f(int *x) { int *z[2] = {x, x + 1}; for (int i = 0; i < 9; i++) z[1][i] = z[0][i]; }
a value through .*, perhaps .* | void f(int *x) { int *z[2]; z[0] = x; for (int i = 0; i < 9; i++) z[0][i + 1] = x[i]; }
a value through .*, perhaps .* | void f(int *x) { struct pointers z = {x, x + 1}; for (int i = 0; i < 9; i++) z.p[i] = z.q[i]; }
a value through .*, perhaps .* | void f(int *x) { union { int *p, *q; } z; z.p = x; for (int i = 0; i < 9; i++) z.q[i + 1] = x[i]; }
a value through .*, perhaps .* | void f(struct record *s, float *x) { s->p = x; for (int i = 0; i < 9; i++) s->p[i] = x[i + 1]; }
nothing | void f(struct record *s, float *x) { for (int i = 0; i < 9; i++) s->p[i] = x[i + 1]; }
a value through .*, perhaps .* | void f(struct record *s) { for (int i = 0; i < 9; i++) s[i].p[i] = s->p[i + 1]; }
a value through .*, perhaps .* | void f(float *x, float *y) { float *a = y; for (int t = 0; t < 3; t++) { for (int i = 0; i < 9; i++) a[i + 1] = x[i]; a = x; } }
a value through .*, perhaps .* | float *g(float *); void f(float *x) { float *a = g(x); for (int i = 0; i < 9; i++) a[i + 1] = x[i]; }
END_OF_FUNCTIONS
check functions c.c

cat >v.cl <<'END_OF_HEAD'
typedef struct { int n; float4 v; } rec;
END_OF_HEAD
cat >kernels <<'END_OF_KERNELS'
a value through x .* | __kernel void f(__global float *x) { for (int i = 0; i < 9; i++) vstore4((float4)(0), 0, x + i); }
nothing | __kernel void f(__global float *x) { for (int i = 0; i < 9; i++) vstore4((float4)(0), i, x); }
a value through x .* | __kernel void f(__global float *x) { for (int i = 0; i < 9; i++) { vstore4((float4)(0), i, x); x[4 * i + 7] = 3; } }
a value through x .* | __kernel void f(__global float *x) { for (int i = 0; i < 9; i++) x[i] = vload4(0, x + i).y; }
a value through x .* | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].hi = x[i + 1].zw; }
a value through x .* | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].w = x[i + 1].wzyx.x; }
a value through x .* | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].wx = x[i + 1].xy; }
a value through x .* | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].w = x[i + 1].hi.y; }
a value through x .* | __kernel void f(__global rec *x) { for (int i = 0; i < 9; i++) { x[i].v.x = x[i + 1].v.y; x[i].v.yz = 1; } }
nothing | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].w = x[i + 1].x; }
nothing | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].w = x[i + 1].hi.x; }
nothing | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].a = x[i + 1].rgb.z; }
a value through x .* | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].g = x[i + 1].y; }
nothing | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].hi.yx = x[i + 1].lo.yx; }
nothing | __kernel void f(__global float8 *x) { for (int i = 0; i < 9; i++) x[i].odd.even = x[i + 1].s02; }
a value through x .* | __kernel void f(__global float8 *x) { for (int i = 0; i < 9; i++) x[i].odd.even = x[i + 1].s05; }
a value through x .* | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].w = (x + i + 1)->w; }
nothing | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].w = (x + i + 1)->xyz.y; }
nothing | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].w = ((__global float2 *)x)[2 * i + 2].x; }
a value through .* | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].w = ((__global float2 *)x)[2 * i + 3].y; }
a value through .*, perhaps .* | __kernel void f(__global float4 *x) { for (int i = 0; i < 9; i++) x[i].xz = ((__global float2 *)x)[2 * i + 2].y; }
nothing | __kernel void f(__global float16 *x) { for (int i = 0; i < 9; i++) x[i].sA = x[i + 1].sb; }
a value through x .* | __kernel void f(__global float16 *x) { for (int i = 0; i < 9; i++) x[i].sa = x[i + 1].sA; }
a value through .* | __kernel void f(__global float *x) { __global float4 *v = (__global float4 *)x; for (int i = 0; i < 9; i++) x[4 * i + 7] = v[i].w; }
END_OF_KERNELS
check kernels v.cl
finish
