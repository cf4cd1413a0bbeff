#!/usr/bin/env bash
# beside.sh REWRITER: a rewriter that works beside a program keeps nothing of the program's open, so who waits for the end of its output does
# not wait for the rewriter.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ten() { printf "$1 %.0s" {1..10}; }
slow="#define A x += x;\n#define B $(ten A)\n#define C $(ten B)\n#define D $(ten C)\n#define E $(ten D)\n"
slow+="kernel void f(global int *p) { int x = p[0];\n$(ten E) $(ten E) $(ten E)\np[0] = x; }"
printf '%s' "{\"beside\": true, \"source\": \"$slow\"}" >"$work/request"
"$1" --request <"$work/request" 2>&1 9>&1 >"$work/reply" | cat
answered=$(stat -c %s "$work/reply")
for ((i = 0; i < 600; i++)); do
    ! grep -q kernels "$work/reply" || break
    sleep 0.1
done
grep -q kernels "$work/reply"
[ "$answered" -le 1 ]
