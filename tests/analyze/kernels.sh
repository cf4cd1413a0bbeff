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

# "kernel array element touched class", a line an argument
judge() {
    "$restride" analyze "$work/k.cu" --json -- "$@" 2>/dev/null | /usr/bin/python3 -c '
import json, sys
for unit in json.load(sys.stdin)["units"]:
    for a in unit.get("judgement", {}).get("arguments", []):
        print(unit["name"].split("<")[0], a["array"], a["element"], a["touched"], a["class"])'
}
found=$(judge -isystem "$work/inc")
expected="whole s 40 36 one
some p 48 16 gather"
if [ "$found" != "$expected" ]; then
    printf 'found:\n%s\nexpected:\n%s\n' "$found" "$expected"
    exit 1
fi

# What cannot be read changes nothing.
judge >/dev/null
echo "kernels: 2 judged"
