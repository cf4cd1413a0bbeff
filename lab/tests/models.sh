#!/usr/bin/env bash
# models.sh LAB: the data layout transformer's cycles and figures, and the speed of the model of a memory.
lab=$1
source "$(dirname "$0")/../../tests/cli/expect.sh"

# How fast the model is: on one of today's cores 10 million accesses a second, beside other work or sanitizers less.
expect 0 "$lab" sim --device t10 --bytes 1M
says out '^side by side, whole lines +[0-9.]+ M'
expect 0 "$lab" sim --bytes 1M --json
says out '"per_second": [0-9]{6}'
expect 1 "$lab" sim --device no-such-file
expect 2 "$lab" sim --fast

# The data layout transformer: with 4 bits a cycle both stages of a chunk take K * Size * 8 / 4 cycles.
expect 0 "$lab" dlt --help
expect 0 "$lab" dlt --tile 32 --fields 5 --bus 128
says out 'bus to A +40 cycles'
says out 'B to C +40 cycles'
says out 'balanced with 4 bits'
expect 0 "$lab" dlt --step 2 --json
says out '"b_to_c": 320'
expect 2 "$lab" dlt --tile 24
says err 'give --step'
expect 2 "$lab" dlt --tile 3 --element 8 --step 1
says err 'whole bus words'
expect 2 "$lab" dlt --fields 0
expect 0 "$lab" dlt --figures --out "$work/figures"
says out '^tseng-9: '
says out '^AoS with transformer +1\.[0-9]+ +2\.[0-9]+ '
for figure in 6 7 9; do
    grep -q '</svg>' "$work/figures/tseng-$figure.svg" || complain "figure $figure was not drawn"
    grep -q speed_over_aos "$work/figures/tseng-$figure.json" || complain "figure $figure has no numbers"
done
expect 1 "$lab" dlt --out /dev/null/figures
finish
