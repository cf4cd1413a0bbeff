#!/usr/bin/env bash
# fuzz_kernels.sh [SECONDS [SEED [cuda]]] runs random kernels as written and rewritten and compares all bytes, for SECONDS
# (default: 60; an hour is 3600): OpenCL C on an OpenCL device, or companions of CUDA C++ and accessors of random records, compiled for
# the host. SEED (default: the time) is told, and finds a difference again. Needs a build in build/, or in $BUILD.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
seed=${2:-$(date +%s)000}
if [ "${3:-}" = cuda ]; then
    rewriter=${BUILD:-build}/lib/restride-rewrite writer=${BUILD:-build}/tests/companion/accessors_of compiler=$(command -v clang++ || command -v g++)
    echo "fuzz_kernels: seed $seed, $seconds s"
    until [ "$SECONDS" -ge "$seconds" ]; do
        if ! python3 tests/companion/companion.py --rewriter "$rewriter" --random 250 --seed "$seed" "$compiler" ||
            ! python3 tests/companion/accessors.py --writer "$writer" --seed "$seed" --records 2 "$compiler"; then
            echo "fuzz_kernels: that was seed $seed"
            exit 1
        fi
        seed=$((seed + 250))
    done
    exit
fi
program=${BUILD:-build}/tests/rewrite/test_rewrite_random
[ -x "$program" ] || { echo "fuzz_kernels: $program is missing; build it first (make)"; exit 77; }
echo "fuzz_kernels: seed $seed, $seconds s"
# Compiled kernels of a device's cache are of no use again.
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
export POCL_CACHE_DIR=$cache
# PoCL keeps the library of every kernel loaded, and a process has 65530 mappings: a new one every quarter of an hour, with a
# seed that no program of this one has had: they count up from it.
while [ "$seconds" -gt 0 ]; do
    piece=$((seconds < 900 ? seconds : 900))
    RESTRIDE_TEST_SECONDS=$piece RESTRIDE_TEST_SEED=$seed "$program" 2>"$cache/errors" | grep -vE '^\[' ||
        { tail -n 40 "$cache/errors"; echo "fuzz_kernels: that was seed $seed"; exit 1; }
    seconds=$((seconds - piece)) seed=$((seed + 1000000))
done
