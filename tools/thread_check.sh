#!/bin/bash
# thread_check.sh [BUILD] builds the layer and its test programs with ThreadSanitizer, in BUILD (build-thread), and runs those
# that have threads, callbacks and builds beside them on PoCL. PoCL is not built so: what happens inside it is not looked at
# (tests/thread.supp). The rewriter is a process of its own and is taken as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath -m "${1:-build-thread}")
programs=$build/tests/layer

cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRESTRIDE_SANITIZE=thread -DRESTRIDE_CUDA=OFF >/dev/null
cmake --build "$build" --parallel "$(nproc)" --target restride_layer restride_rewriter layer_calls layer_cases layer_waits \
    layer_exits layer_made_up_gpu >/dev/null
export RESTRIDE_REWRITER=$build/lib/restride-rewrite RESTRIDE_WISDOM='' RESTRIDE_TILE=32
export TSAN_OPTIONS="suppressions=$PWD/tests/thread.supp"
output=$(mktemp)
trap 'rm -f "$output"' EXIT

check() { # LAYERS POLICY PROGRAM ARGUMENTS...
    if ! OPENCL_LAYERS=$1 RESTRIDE_POLICY=$2 timeout 120 "${@:3}" >"$output" 2>&1; then
        cat "$output"
        echo "thread_check: $(basename "$3") ${*:4} failed" >&2
        exit 1
    fi
}

layer=$build/lib/librestride_layer.so
for name in threads user-event released-queue leak views notified-build notified-link; do
    check "$layer" asta "$programs/layer_cases" $name
done
POCL_DEVICES='pthread pthread' check "$layer" asta "$programs/layer_cases" several-devices
POCL_DEVICES='pthread pthread' check "$layer" asta "$programs/layer_cases" in-place
POCL_DEVICES='pthread pthread' check "$layer" asta "$programs/layer_calls" tests/layer/calls.cl 2 200 1007 2
for name in held-back shared callback; do
    check "$layer" asta "$programs/layer_waits" $name
done
check "$layer" asta "$programs/layer_calls" tests/layer/calls.cl 1 200
check "$layer" soa "$programs/layer_calls" tests/layer/calls.cl 1 40 40009
for name in notified-at-end notified-at-release notified-at-kernel; do
    MADE_UP_COMPILER=1 check "$programs/liblayer_made_up_gpu.so:$layer" auto "$programs/layer_waits" $name
done
MADE_UP_COMPILER=1 check "$programs/liblayer_made_up_gpu.so:$layer" soa "$programs/layer_waits" notified-at-plans
MADE_UP_COMPILER=1 check "$programs/liblayer_made_up_gpu.so:$layer" asta "$programs/layer_cases" thread-ends
for delay in 0 1000 5000 20000 100000 400000; do # microseconds
    for who in main other joined; do
        for policy in asta soa auto; do
            check "$layer" $policy "$programs/layer_exits" $who $delay
        done
    done
done
echo "thread_check: no race"
