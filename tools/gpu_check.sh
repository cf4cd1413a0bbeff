#!/usr/bin/env bash
# usage: tools/gpu_check.sh [--build FOLDER] [--device NAME] [--long] [STEP]...
# Checks the OpenCL engine on a GPU, from a built tree. STEP is any of
#   tests   the engine's tests on the GPU (--long: every record size with every tile)
#   large   an array of more than 4 GiB, verified
#   table   5, 8, 16, 19, 20, 32 and 64 words by tiles of 16, 32 and 64, verified, beside the copy
#   sweep   other kernel shapes for the same records, tile 32: the default comes first, then the best
# and all of them when none is named. The tables come last; the exit status is 0 when everything held.
set -uo pipefail
cd "$(dirname "$0")/.."

build=build
device=NVIDIA
tier=()
steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --device) device=${2:?} && shift ;;
    --long) tier=(all) ;;
    tests | large | table | sweep) steps+=("$1") ;;
    *)
        sed -n '2,8s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || steps=(tests large table sweep)

restride=$build/bin/restride
export RESTRIDE_TEST_DEVICE=$device RESTRIDE_LOG=${RESTRIDE_LOG:-error}
failures=()
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT

# check NAME COMMAND... : a test that found no device is a failure here.
check() {
    local name=$1
    shift
    echo "== $name"
    "$@" || failures+=("$name")
}

# bench NAME OPTIONS... : keeps the table for the end.
bench() {
    local name=$1
    shift
    echo "== $name"
    echo "$name" >>"$tables"
    "$restride" bench marshal --device "$device" "$@" >>"$tables" || failures+=("$name")
    echo >>"$tables"
}

for step in "${steps[@]}"; do
    case $step in
    tests)
        check "kernel shapes" "$build/tests/engine/test_shape"
        check "marshaling, byte by byte" "$build/tests/engine/test_marshal" "${tier[@]}"
        check "plans" "$build/tests/engine/test_plan"
        ;;
    large) bench "5 GiB" --words 19 --tile 32 --bytes 5G --repeat 3 --verify ;;
    table)
        bench "Every element verified, 256 MiB" --tile 16,32,64 --bytes 256M --verify
        bench "4 GiB" --tile 16,32,64 --bytes 4G
        ;;
    sweep) bench "Sweep, 1 GiB" --tile 32 --sweep --repeat 5 ;;
    esac
done

echo
cat "$tables"
for failure in "${failures[@]}"; do
    echo "failed: $failure"
done
[ ${#failures[@]} -eq 0 ] && echo "all held"
