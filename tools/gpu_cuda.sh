#!/usr/bin/env bash
# usage: tools/gpu_cuda.sh [--build FOLDER] [--shapes N] [--seeds N] [STEP]...
# Checks the CUDA engine on a GPU, from a built tree. STEP is any of
#   stages     N random shapes of every stage and of plans for each of the seeds, byte by byte, with canaries
#   sanitize   compute-sanitizer, memcheck and racecheck, on small shapes
#   table      in-place transposition of the shapes of docs/performance.md, verified, beside the copy
# and all of them when none is named. The exit status is 0 when everything held.
set -uo pipefail
cd "$(dirname "$0")/.."

build=build
shapes=60
seeds=8
steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --shapes) shapes=${2:?} && shift ;;
    --seeds) seeds=${2:?} && shift ;;
    stages | sanitize | table) steps+=("$1") ;;
    *)
        sed -n '2,7s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || steps=(stages sanitize table)

tests=$build/tests/engine/cuda
export RESTRIDE_LOG=${RESTRIDE_LOG:-error}
failures=()

stages() {
    local logs status=0 pids=()
    logs=$(mktemp -d)
    for seed in $(seq "$seeds"); do
        "$tests/test_cuda" "$seed" "$shapes" >"$logs/$seed" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || status=1
    done
    grep -hE "ERROR|FAILED|LINE" "$logs"/* | head -20
    echo "stages: $(cat "$logs"/* | grep -c "  OK \]") groups of $shapes shapes passed"
    rm -r "$logs"
    return $status
}

sanitize() {
    local tool
    for tool in memcheck racecheck; do
        echo "-- $tool"
        compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 "$tests/test_cuda" 77 2 2>&1 | tail -4 || return 1
    done
}

table() {
    "$tests/measure_cuda" --copy 4294967296 --copy 52000000 \
        20000x20000x4 28800x7200x4 7200x28800x4 16000x25600x4 25600x16000x4 20000x5000x4 5000x20000x4 \
        19997x20011x4 30011x10007x4 10007x30011x4 \
        7200x1800x4 5100x2500x4 4000x3200x4 3300x3900x4 2500x5100x4 1800x7200x4 \
        100000000x3x4 100000000x8x4 50000000x19x4 3x100000000x4 8x100000000x4 19x50000000x4 \
        20000x20000x8 28800x7200x8 16000x25600x8 20000x5000x8 19997x20011x8 7200x1800x8 \
        20000x5000x1 20000x5000x2 20000x5000x16 20000x5000x12
}

for step in "${steps[@]}"; do
    echo "== $step"
    "$step" || failures+=("$step")
done
for failure in "${failures[@]}"; do
    echo "failed: $failure"
done
[ ${#failures[@]} -eq 0 ] && echo "all held"
