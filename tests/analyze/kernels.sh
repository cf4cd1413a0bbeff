#!/usr/bin/env bash
# kernels.sh RESTRIDE: CUDA kernels whose elements are known from the whole source alone are judged by it.
set -euo pipefail
restride=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/inc"
cat >"$work/inc/states.h" <<'EOF'
struct state { int d; unsigned v[5]; float extra; double last; };
template <class T> struct both { T a[3], b[3]; };
EOF
cat >"$work/k.cu" <<'EOF'
#include <states.h>
__global__ void whole(state *s, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        state &own = s[i];
        out[i] = own.extra + own.v[0] + own.v[1] + own.v[2] + own.v[3] + own.v[4];
        own.d++;
        own.last = 0;
    }
}
template <class T> __global__ void some(both<T> *p, const int *index)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[index[i]].a[0] = p[index[i]].b[2];
}
void run(both<double> *p, int *index) { some<<<1, 32>>>(p, index); }
EOF

cat >"$work/wrong.cl" <<'EOF'
typedef struct { float a[8]; } cell;
float wrong(__global cell *p) { return p->b + p->a[1]; }
float on(__global cell *p) { return wrong(p); }
__kernel void bad(__global cell *p) { p[get_global_id(0)].a[0] = on(p); }
__kernel void good(__global cell *p, __global float *q) { size_t i = get_global_id(0); p[i].a[2] = q[3 * i + 1] + q[3 * i]; }
EOF

# FILE, options: "kernel array element touched class", a line an argument
judge() {
    local file=$1
    shift
    "$restride" analyze "$work/$file" --json -- "$@" 2>/dev/null | /usr/bin/python3 -c '
import json, sys
for unit in json.load(sys.stdin)["units"]:
    for a in unit.get("judgement", {}).get("arguments", []):
        print(unit["name"].split("<")[0], a["array"], a["element"], a["touched"], a["class"])'
}
found=$(judge k.cu -isystem "$work/inc")
expected="whole s 40 36 one
some p 48 16 gather"
if [ "$found" != "$expected" ]; then
    printf 'found:\n%s\nexpected:\n%s\n' "$found" "$expected"
    exit 1
fi

# What cannot be read changes nothing.
judge k.cu >/dev/null

# An error in what a kernel calls leaves its own accesses open, and no other kernel's.
found=$(judge wrong.cl)
expected="bad p 32 4 unknown
good p 32 4 one
good q 12 8 one"
if [ "$found" != "$expected" ]; then
    printf 'found:\n%s\nexpected:\n%s\n' "$found" "$expected"
    exit 1
fi
echo "kernels: 4 judged"
