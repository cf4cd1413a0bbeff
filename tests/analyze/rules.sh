#!/usr/bin/env bash
# rules.sh RESTRIDE: the papers' own small examples: transformation rules (Jang 2011, section 4.1), memory spaces (4.2) and
# the layout of a grid (Sung 2013, listing 6.1 and section 6.3.2).
restride=$1
source "$(dirname "$0")/../cli/expect.sh"
facts_of=$(cd "$(dirname "$0")" && pwd)/facts.py
facts() { /usr/bin/python3 -S "$facts_of" "$restride" "$@"; }
kernels=$(cd "$(dirname "$0")/../../lab/kernels" && pwd)
cd "$work"

# analyze NAME BODY: the loop nest BODY over arrays X and Y.
analyze() {
    echo "enum { N = 256, M = 256 }; void $1(float X[N][M], float Y[N][2 * M], float x[N], float y[N + 16], int shift) { $2 }" >"$1.c"
    expect 0 facts "$1.c" "${@:3}"
}

nest='for (int i = 0; i < N; i++) for (int j = 0; j < M; j++)'
analyze reversed "$nest X[i][j] = Y[i][M - j] + 1;"
says out 'Y\[i\]\[M - j\] +shift \+ reverse  T_m \[1 0; 0 -1\]  t_v \[0 256\]$'
says out 'vectors after transformation, along j; Q_V = 100.0 %'
analyze shifted 'for (int i = 0; i < N; i++) x[i] = y[i + 10] + y[i + 11];'
says out 'y\[i \+ 10\] +duplicate \+ shift  T_m \[1\]  t_v \[-10\]$'
says out 'y\[i \+ 11\] +duplicate \+ shift  T_m \[1\]  t_v \[-11\]$'
analyze overlapping "$nest X[i][j] = Y[i][i + j] + 1;"
says out 'Y\[i\]\[i \+ j\] +skew  T_m \[1 0; -1 1\]  t_v \[0 0\]$'
analyze strided "$nest X[i][j] = Y[i][2 * j] + 1;"
says out 'Y\[i\]\[2 \* j\] +gather stride  T_m \[1 0; 0 1/2\]  t_v \[0 0\]$'
analyze turned "$nest X[i][j] = X[i][j] + Y[j][i];"
says out 'Y\[j\]\[i\] +dimension switch  T_m \[0 1; 1 0\]  t_v \[0 0\]$'
analyze turned_twice 'for (int i = 0; i < N; i++) x[i] = Y[i][3] + Y[i][7];'
says out 'Y\[i\]\[3\] +dimension switch  T_m \[0 1; 1 0\]  t_v \[0 0\]$' # one copy has both
analyze serial 'for (int i = 1; i < N; i++) x[i] = x[i - 1] + y[i];'
says out 'vectors never: loop-carried dependence'
analyze far 'for (int i = 0; i < N; i++) x[i + 256] = x[i];'
says out 'loop i \(its iterations are threads\): carries nothing'
analyze near 'for (int i = 0; i < N; i++) x[i + 255] = x[i];'
says out 'loop i: carries a value through x \(lines 1 and 1\)'

# The table names the columns in the order of the matrix: those between threads first.
analyze columns 'for (int i = 1; i < N; i++) for (int j = 0; j < M; j++) X[i][j] = X[i - 1][j];'
says out 'M \[0 1; 1 0\]  o \[-1 0\]  \(j \| i\)$'
kernel_columns='int x = get_global_id(0); for (int j = 0; j < n; j++) a[b[x] + 2 * j] = 1;'
echo "__kernel void k(__global int *a, __global int *b, int n) { $kernel_columns }" >columns.cl
expect 0 facts columns.cl
says out 'M \[0 1 2\]  o \[0\]  \(global.x ~b\[global.x\] \| j\)$'

# Figures 7 and 8: constant and texture memory.
analyze constant 'for (int i = 0; i < N; i++) { float t = 0; for (int j = 0; j < M; j++) t += y[j]; x[i] = t; }'
says out '^  y: .*same address.*place: constant memory'
says out '^  x: .*place: global memory'
analyze constant 'for (int i = 0; i < N; i++) { float t = 0; for (int j = 0; j < M; j++) t += y[j]; x[i] = t; }' --constant 512
says out '^  y: .*place: shared memory'
analyze texture 'for (int i = 0; i < N; i++) x[i] = y[i + shift];'
says out '^  y: .*place: texture memory'
analyze coalesced 'for (int i = 0; i < N; i++) x[i] = y[i + 16];'
says out '^  y: .*place: global memory'

# Transactions: 32 threads of 4 bytes in bursts of 32, aligned and not, and a structure apart.
cat >bursts.cl <<'END'
struct body { float x, y, z, w, m; };
__kernel void bursts(__global struct body *b, __global float *f, __global float *g, __global float *t)
{
    int i = get_global_id(0);
    f[i] = b[i].x;
    g[i + 1] = t[i * 20 + 3];
}
END
expect 0 "$restride" analyze bursts.cl --json
python3 - out <<'END' || complain "the transactions are not what they should be"
import json, sys
unit, = json.load(open(sys.argv[1]))["units"]
found = {r["text"]: r["transactions"] for r in unit["references"]}
assert found == {"f[i]": 4, "b[i].x": 20, "g[i + 1]": 5, "t[i * 20 + 3]": 32}, found
advice = {a["name"]: a.get("advice") for a in unit["arrays"]}
assert advice["b"]["layout"] == "i/32 f i%32" and (advice["b"]["now"], advice["b"]["then"]) == (20, 4), advice
assert advice["t"]["record"] == 20 and advice["f"] is None, advice
END
expect 0 "$restride" analyze bursts.cl --burst 128 --json
python3 - out <<'END' || complain "the size of a burst has no effect"
import json, sys
unit, = json.load(open(sys.argv[1]))["units"]
assert [r["transactions"] for r in unit["references"] if r["text"] == "f[i]"] == [1]
END
# Advice that the rewriter would not follow comes with its reason.
cat >kept.cl <<'END'
typedef struct { float x, y, z, w, v; } cell;
__kernel void plain(__global cell *p) { p[get_global_id(0)].x = 1; }
__kernel void behind(__global float *q) { __global cell *c = (__global cell *)q; c[get_global_id(0)].x = 1; }
__kernel void away(__global cell *p, __global float *o)
{
    __global double *f = (__global double *)p;
    o[get_global_id(0)] = p[get_global_id(0)].x + ((long)f > 1);
}
__kernel void flat(__global float *g) { g[get_global_id(0) * 20] = 1; }
__kernel void odd(__global float *g) { g[get_global_id(0) * 20] = (float)(long)g; }
END
expect 0 "$restride" analyze kept.cl --json
python3 - out <<'END' || complain "the advice is not what the rewriter would do"
import json, sys
units = {u["name"]: u["arrays"] for u in json.load(open(sys.argv[1]))["units"]}
advised = {u: [a["name"] for a in arrays if "advice" in a] for u, arrays in units.items()}
assert advised == {"plain": ["p"], "behind": [], "away": [], "flat": ["g"], "odd": []}, advised
kept = {u: [(k["line"], k["reason"]) for k in (a.get("kept_advice") for a in arrays) if k] for u, arrays in units.items()}
assert kept == {"plain": [], "behind": [(3, "it is not an argument of the kernel")], "away": [(6, "the pointer is cast")],
                "flat": [], "odd": [(10, "the pointer is cast")]}, kept
END
expect 0 facts kept.cl
says out "--layout 'p: i/32 f i%32'"
says out 'keeps it: kept.cl:3: it is not an argument of the kernel'
says out '"i/32 f i%32" would need 4 transactions instead of 20, but the rewriter keeps it: kept.cl:6: the pointer is cast'

cat >grid.cu <<'END'
enum { N = 0, E, W, S };
__global__ void example(int ny, int nx, float A0[ny][nx][4], float Anext[ny][nx][4])
{
    int i = threadIdx.x + 1, j = blockIdx.x + 1;
    float x_velocity = A0[j][i][E] - A0[j][i][W];
    float y_velocity = A0[j][i][N] - A0[j][i][S];
    Anext[j][i - 1][E] = x_velocity;
    Anext[j][i + 1][W] = -x_velocity;
    Anext[j - 1][i][N] = y_velocity;
    Anext[j + 1][i][S] = -y_velocity;
}
END
expect 0 facts grid.cu --group 128 --active 32 --burst 64 --steering 8
says out "'A0: i/32 j/128 k i%32 j%128' \(over \"i j k\"\)"
says out "'Anext: i/32 j/128 k i%32 j%128' \(over \"i j k\"\)"
[ "$(grep -c 'M \[1 0; 0 1; 0 0\]' out)" -eq 8 ] || complain "the grids do not share one access pattern"
# The thesis' programs as restride-lab grids runs them: where addresses are hashed, and with 8 steering bits.
expect 0 facts "$kernels/grids.cl" --burst 128 --steering 0
[ "$(grep -c ": i j k/32 l k%32'" out)" -eq 3 ] || complain "LBM and CFD are not in tiles of 32"
[ "$(grep -c ": i j k'" out)" -eq 2 ] || complain "Heat is not in rows"
expect 0 facts "$kernels/grids.cl" --burst 128 --steering 8 --active 2112
[ "$(grep -c ": i j/64 k/128 l j%64 k%128'" out)" -eq 3 ] || complain "LBM and CFD are not in tiles of 64 x 128"
expect 2 "$restride" analyze grid.cu --group 0
expect 2 "$restride" analyze grid.cu --group 1,2,3,4
finish
