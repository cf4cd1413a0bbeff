#!/usr/bin/env bash
# usage: lab/tools/gpu_round.sh [--build FOLDER] [--data FOLDER] [--out FOLDER] [--small] [STEP]...
# One round on a GPU over what a change of the layer, the planner or a kernel can have broken, the quickest steps first,
# each with a log in OUT (gpu-round in the build), and a short table at the end. STEP is any of
#   calls    random sequences of calls under `restride run`, with user events, in four sizes: all bytes as expected
#   cards    the same with the queues and buffers of two devices, where the platform has them
#   run      tools/gpu_run.sh: the examples without and with Restride
#   plans    tools/gpu_plans.sh, CUDA and OpenCL
#   apps     restride-lab apps: the applications of the goals beside the versions written by hand, five processes each;
#            bcsstk18.mtx is looked for in the folder of --data
#   huge, search, repeat   tools/gpu_transpose.sh
# and all of them in this order when none is named. --small tries the round out on a CPU. The exit status is 0 when
# everything held.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

build=build
data=()
out=
small=
steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --data) data=(--data "${2:?}") && shift ;;
    --out) out=${2:?} && shift ;;
    --small) small=yes ;;
    calls | cards | run | plans | apps | huge | search | repeat) steps+=("$1") ;;
    *)
        sed -n '2,13s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || steps=(calls cards run plans apps huge search repeat)
out=${out:-$build/gpu-round}
mkdir -p "$out"
restride=$build/bin/restride
export SMALL=$small

# sequences DEVICES: five of each size at once; the sentence counts those that ended as they should, in another layout.
sequences() {
    local size policy tile cells seed logs right=0 all=0 seeds=5 length=1500
    [ -z "$small" ] || { seeds=1 && length=150; }
    logs=$(mktemp -d)
    for size in "asta 7 1007" "asta 32 1008" "asta 128 3333" "soa 16 1024"; do
        read -r policy tile cells <<<"$size"
        for seed in $(seq "$seeds"); do
            { timeout 200 "$restride" run --policy "$policy" --tile "$tile" -- "$build/tests/layer/layer_calls" \
                tests/layer/calls.cl "$((cells + seed))" "$length" "$cells" "$1" >"$logs/$tile-$seed" 2>&1
            echo "status $?, --policy $policy --tile $tile, seed $((cells + seed)), $length steps, $cells cells" \
                >>"$logs/$tile-$seed"; } &
        done
        wait
    done
    for log in "$logs"/*; do
        all=$((all + 1))
        if tail -1 "$log" | grep -q '^status 0,' && grep -qE ' launch(es)?, [1-9][0-9]* conversions? of ' "$log"; then
            right=$((right + 1))
        else
            cat "$log"
        fi
    done
    echo "$1 devices: $right of $all sequences as expected and in another layout ($(grep -h '^restride: ' "$log"))"
    rm -r "$logs"
    [ "$right" -eq "$all" ]
}
calls() { sequences 1; }

cards() {
    local status
    [ -z "$small" ] || export POCL_DEVICES="pthread pthread"
    "$build/tests/layer/layer_calls" tests/layer/calls.cl 1 1 1007 2 >/dev/null 2>&1
    status=$?
    if [ $status -eq 77 ]; then
        echo "skipped: the platform has one device"
        return 0
    fi
    sequences 2
    status=$?
    unset POCL_DEVICES
    return $status
}

run() {
    tools/gpu_run.sh --build "$build" | tee "$out/run.all"
    local status=$?
    echo "$(grep -c ': identical$' "$out/run.all") results identical, $(tail -1 "$out/run.all")"
    return "$status"
}

plans() {
    local engine status=0
    rm -f "$out"/plans-*
    for engine in cuda opencl; do
        [ -z "$small" ] || [ "$engine" = opencl ] || continue
        echo "-- $engine"
        tools/gpu_plans.sh "$build" "$engine" ${small:+cpu} | tee "$out/plans-$engine" || status=1
    done
    awk '/^ *[0-9]+ x / { rows++; late += $9 > 1 } END { print rows + 0 " shapes, " late + 0 " with a plan longer than its run" }' \
        "$out"/plans-*
    return "$status"
}

# Where the layer converted nothing, its column of conversions is 0.
apps() {
    local how=(--device gpu --iterations 200 --runs 5 --tile 32) case status=0 cases=(lbm bcsstk18 conf6 Scholes "sums")
    [ -z "$small" ] || { how=(--device cpu --small --iterations 3 --runs 1 --tile 32) && cases=(sums); }
    : >"$out/apps.all"
    for case in "${cases[@]}"; do
        "$restride-lab" apps "${how[@]}" --only "$case" "${data[@]}" >"$out/apps.one" 2>&1 || status=1
        cat "$out/apps.one" >>"$out/apps.all"
    done
    cat "$out/apps.all"
    sed -n '/ \(yes\|NO\)$/s/|//gp' "$out/apps.all" | awk '{ rows++; same += $NF == "yes"; idle += $(NF - 9) == 0
            if (auto == "" || $(NF - 5) < auto) auto = $(NF - 5)
            if (whole == "" || $(NF - 2) < whole) whole = $(NF - 2)
            if (hand == "" || $(NF - 10) < hand) hand = $(NF - 10) }
        END { print same + 0 " of " rows + 0 " with the same result, " idle + 0 " without a conversion; at least " auto \
            " of its own speed under policy auto, " whole " of its whole process, " hand " of the kernels by hand"
            exit same != rows || !rows || idle }' && return "$status"
}

transpose() {
    tools/gpu_transpose.sh --build "$build" "$1"
}
huge() { transpose huge; }
# What is best on a CPU the planner's costs of devices do not know.
search() { transpose search || [ -n "$small" ]; }
repeat() { transpose repeat; }

failed=0
rows=()
for step in "${steps[@]}"; do
    start=$SECONDS
    outcome=held
    "$step" >"$out/$step.txt" 2>&1 || { outcome=FAILED && failed=1; }
    rows+=("$(printf '%-7s %-6s %5d s  %s' "$step" $outcome $((SECONDS - start)) "$(tail -1 "$out/$step.txt")")")
    echo "== $step, $outcome" && tail -25 "$out/$step.txt"
done
echo
printf '%s\n' "${rows[@]}"
exit $failed
