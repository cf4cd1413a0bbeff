#!/usr/bin/env bash
# usage: tools/fuzz_calls.sh [--build FOLDER] SECONDS [SEED], or --runs COUNT in place of SECONDS
# Random sequences of every kind of call on buffers of structures, each also carried out on plain arrays, without the layer
# and with it, under each policy and with random tiles, a quarter of them on two devices, until the time is over, or COUNT
# of them. Under policy auto, half of the runs are on a made-up GPU whose times change from run to run, so that layouts come
# and go. Ends at the first difference, and says how to repeat it.
set -uo pipefail
cd "$(dirname "$0")/.."
build=build
[ "${1:-}" != --build ] || { build=$2 && shift 2; }
most_runs=
limit=${1:?usage: tools/fuzz_calls.sh [--build FOLDER] SECONDS [SEED]}
[ "$limit" != --runs ] || { most_runs=$2 && shift; }
seed=${2:-$(date +%s)}
programs=$build/tests/layer
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
export RESTRIDE_WISDOM=

RANDOM=$((seed % 32768))
[ -n "$most_runs" ] || end=$((SECONDS + limit))
runs=0
while if [ -n "$most_runs" ]; then [ "$runs" -lt "$most_runs" ]; else [ "$SECONDS" -lt "$end" ]; fi; do
    tile=$((1 + RANDOM % 130))
    cells=$((130 + RANDOM % 3000))
    # Half of the buffers end with a full tile, for which there are kernels of their own.
    [ $((RANDOM % 2)) -eq 0 ] || cells=$(((cells + tile - 1) / tile * tile))
    steps=$((1000 + RANDOM % 3000))
    policies=(asta soa auto auto)
    policy=${policies[RANDOM % 4]}
    # Above some 38000 cells, plans convert what smaller arrays take a copy for.
    if [ "$policy" != auto ] && [ $((RANDOM % 8)) -eq 0 ]; then
        cells=$((38000 + RANDOM % 5000))
        steps=$((50 + RANDOM % 100))
    fi
    layers=
    times=
    if [ "$policy" = auto ] && [ $((RANDOM % 4)) -ne 0 ]; then
        layers=$programs/liblayer_made_up_gpu.so
        for kernel in bump join take; do
            times="$times$kernel $((1 + RANDOM % 500)) $((1 + RANDOM % 500)), "
        done
        times="${times}aos_to_asta $((1 + RANDOM % 300)) 1, asta_to_aos $((1 + RANDOM % 300)) 1"
    fi
    # Two devices of PoCL share the buffers; other platforms have those that they have.
    devices=1
    [ $((RANDOM % 4)) -ne 0 ] || devices=2
    pocl=
    [ $devices -eq 1 ] || pocl="POCL_DEVICES=pthread pthread"
    seed=$((seed + 1))
    command=(env ${pocl:+"$pocl"} "$programs/layer_calls" tests/layer/calls.cl "$seed" "$steps" "$cells" $devices)
    # Without the layer a failure would be the program's own, or the driver's.
    for run in plain layer; do
        if [ $run = layer ]; then
            OPENCL_LAYERS=$layers MADE_UP_TIMES=$times timeout 300 \
                "$build/bin/restride" run --quiet --policy "$policy" --tile "$tile" -- "${command[@]}" >/dev/null 2>"$errors"
        else
            timeout 300 "${command[@]}" >/dev/null 2>"$errors"
        fi
        status=$?
        [ $status -ne 77 ] || break # no second device
        if [ $status -ne 0 ]; then
            echo "run $runs, $run: status $status: $(head -c 2000 "$errors")"
            echo "repeat: OPENCL_LAYERS=$layers MADE_UP_TIMES='$times' $build/bin/restride run --policy $policy --tile $tile -- ${command[*]}"
            exit 1
        fi
    done
    runs=$((runs + 1))
done
echo "$runs sequences, no difference"
