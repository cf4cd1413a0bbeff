#!/usr/bin/env bash
# usage: tools/gpu_run.sh [--build FOLDER]
# Runs the examples on a GPU without and with Restride, compares all their bytes, and prints the times: lbm on 128^3 and
# 192^3 cells, particles with a count that no tile divides, tiles of 16, 32 and 64; and what `restride run` costs a program
# that has nothing to transform. SMALL=yes tries it out with small arrays on a CPU. The exit status is 0 when every result was identical.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

build=build
[ "${1:-}" != --build ] || build=$2
restride=$build/bin/restride
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
device=gpu
sizes=(128 192)
count=10000003
steps=200
launches=20000
if [ -n "${SMALL:-}" ]; then
    device=cpu
    sizes=(16 20)
    count=10003
    steps=3
    launches=200
fi

# compare NAME PROGRAM ARGUMENTS... : one run with the policy off, one a tile with the policy asta.
compare() {
    local name=$1
    shift
    echo "$name"
    "$restride" run --quiet --policy off --report "$work/off.json" -- "$@" --device $device --dump "$work/off.bin" \
        >"$work/out.txt" || { failed=1 && cat "$work/out.txt"; }
    for tile in 16 32 64; do
        "$restride" run --policy asta --tile $tile --baseline "$work/off.json" --report "$work/asta.json" -- "$@" \
            --device $device --dump "$work/asta.bin" 2>"$work/summary.txt" >"$work/out.txt"
        if cmp "$work/off.bin" "$work/asta.bin"; then
            echo "T = $tile: identical"
        else
            echo "T = $tile: DIFFERENT"
            failed=1
        fi
        sed 's/^restride: /    /' "$work/summary.txt"
    done
}

# seconds COMMAND... : the median of nine runs.
seconds() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        local start end
        start=$(date +%s.%N)
        "$@" >"$work/out.txt" 2>&1 || failed=1
        end=$(date +%s.%N)
        awk -v a="$start" -v b="$end" 'BEGIN { print b - a }'
    done | sort -n | sed -n 5p
}

examples=$build/bin/examples
for size in "${sizes[@]}"; do
    compare "lbm, $size^3 cells of 20 words, $steps steps" "$examples/lbm" --size "$size" --steps $steps
done
compare "particles, $count of 48 bytes, 50 steps" "$examples/particles" --count $count --steps 50
plain=$(seconds "$examples/nothing" --launches $launches)
run=$(seconds "$restride" run --quiet -- "$examples/nothing" --launches $launches)
echo "a program with nothing to transform: $plain s without, $run s under restride run"
exit $failed
