#!/usr/bin/env bash
# usage: tools/gpu_cuda.sh [--build FOLDER] [--before FOLDER] [--shapes N] [--seeds N] [--limit SECONDS] [--only TEXT] [STEP]...
# Checks the CUDA engine on a GPU, from a built tree. STEP is any of
#   stages     N random shapes of every stage, of plans, permutations and conversions for each of the seeds, byte by
#              byte, with canaries; a test that takes longer than the limit (600) is named
#   sanitize   compute-sanitizer, memcheck and racecheck, on small shapes
#   repeat     plans that follow cycles or whose blocks meet at gates, a thousand times each on the same input: never a
#              wrong element; with TEXT those alone that have it in their method or shape
#   huge       more than 2^32 elements and bytes
#   plans      the time of making a plan beside that of a run, without wisdom and with it
#   table      in-place transposition of the shapes of lab/docs/performance.md, verified, beside the copy
#   tensors    permutations of axes, verified, beside the copy: each kind with the GB/s and ratio to the copy of the
#              build --before, if one is named, and of this one, each stage by itself, and wrong elements
#   random     100 random tensors with even axes, 100 with any and 500 mixed problems, verified: the median and the least
#              ratio to the copy, and how many take the time that the planner expects
#   search     the planner's choice against a search: within 10 % of the best
# and all of them when none is named. The exit status is 0 when everything held.
set -uo pipefail
cd "$(dirname "$0")/.."

build=build
before=
shapes=60
seeds=8
limit=600
only=
steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --before) before=${2:?} && shift ;;
    --shapes) shapes=${2:?} && shift ;;
    --seeds) seeds=${2:?} && shift ;;
    --limit) limit=${2:?} && shift ;;
    --only) only=${2:?} && shift ;;
    stages | sanitize | repeat | huge | plans | table | tensors | random | search) steps+=("$1") ;;
    *)
        sed -n '2,19s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || steps=(stages sanitize repeat huge plans table tensors random search)

tests=$build/tests/engine/cuda
export RESTRIDE_LOG=${RESTRIDE_LOG:-error}
failures=()

stages() {
    local logs status=0 log
    local -A pids=()
    logs=$(mktemp -d)
    for seed in $(seq "$seeds"); do
        for test in test_cuda test_device_cuda test_cuda_axes; do
            timeout "$limit" "$tests/$test" "$seed" "$shapes" >"$logs/$test.$seed" 2>&1 &
            pids[$test.$seed]=$!
        done
    done
    for log in "${!pids[@]}"; do
        wait "${pids[$log]}" && continue
        status=$?
        echo "$log ended with status $status, after $(grep -c "  OK \]" "$logs/$log") groups"
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
        for test in test_cuda test_device_cuda test_cuda_axes; do
            compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 "$tests/$test" 77 2 2>&1 | tail -4 || return 1
        done
    done
}

# Methods and their shapes.
repeated=('direct=1800x450x64' 'tiles 210!=1800x7200x4' '2-stage 010! 100!=7200x1800x4' '2-stage 010! 100!=7201x1800x4'
    '2-stage squares 100!=7200x1800x4' '4-stage fused=7200x1800x4' '3-stage PTTWAC=7200x1800x4'
    '3-stage PTTWAC=1800x7200x8' '3-stage PTTWAC packed=7200x1800x4' '3-stage PTTWAC remapped=7200x1800x4'
    '3-stage P-IPT=1800x720x4' 'PTTWAC=1800x450x64' 'P-IPT=180x450x64' 'C2R=7201x1800x4' 'R2C=7200x1801x4'
    'pad-square-unpad=7193x7201x4' 'pad-square-unpad=7201x7193x1' 'groups and square=7211x2400x4'
    'groups and square=2500x5100x4' 'groups and square=3001x1000x8' 'on chip=7200x1800x4' 'on chip=5001x2501x4')

repeat() {
    local plan plans=()
    for plan in "${repeated[@]}"; do
        [[ $plan != *"$only"* ]] || plans+=(--method "${plan%=*}" "${plan#*=}")
    done
    [ ${#plans[@]} -gt 0 ] || { echo "no plan has \"$only\" in it" && return 1; }
    "$tests/measure_cuda" --repeat 3 --again 1000 "${plans[@]}"
}

huge() {
    "$tests/measure_cuda" --repeat 3 60000x50000x4 80000x70000x1 16000x25600x8 1600000000x3x1 46351x100003x1
}

plans() {
    tools/gpu_plans.sh "$build" cuda
}

kinds=(512x600x700:2x1x0:4 512x600x700:1x2x0:4 512x600x700:0x2x1:4 512x600x700:1x0x2:4 128x1024x16x64:0x2x1x3:2
    32x2048x32x128:0x2x1x3:2 32x4096x24x64:0x2x1x3:2 1024x197x12x64:0x2x1x3:2 96x80x70x60:3x2x1x0:4
    30x40x20x50x33:4x1x3x0x2:4 16x20x24x12x18x22:5x3x1x4x2x0:4 64x224x224x64:0x3x1x2:4 64x64x224x224:0x2x3x1:2
    600x500x400:2x0x1:4 600x500x400:2x1x0:4 512x512x384:2x1x0:4 100x80x120x100:3x2x1x0:4 100x80x120x100:1x0x3x2:4
    100x80x120x100:2x3x0x1:4 40x40x40x40x40:4x3x2x1x0:4 40x40x40x40x40:2x4x1x3x0:4 101x103x107x97:3x0x2x1:4
    600x500x200:2x1x0:8 16x24x20x18x22x25:5x3x1x0x2x4:4 128x96x64x80:3x2x1x0:2 60x50x40x70:2x0x3x1:12
    126x24x4840x11:2x1x3x0:4 93x114x70x126:3x2x1x0:4 16x82x114x34x14:4x3x1x0x2:4 112x64x6448:2x1x0:4
    100x200x300:2x1x0:4 60x70x50x60:3x2x1x0:4 16x12x14x12x18x20:5x3x1x4x2x0:4)

tensors() {
    local kind
    for kind in "${kinds[@]}"; do
        [ -z "$before" ] || { echo "before: " && "$before/tests/engine/time_permute" cuda "$kind" | head -1; }
        "$build/tests/engine/time_permute" cuda "$kind" || return 1
    done
}

random() {
    "$build/tests/engine/time_permute" cuda --random 100 5 even &&
        "$build/tests/engine/time_permute" cuda --random 100 6 any &&
        "$build/tests/engine/time_permute" cuda --random 500 7 mixed
}

# Those of lab/docs/performance.md.
matrices=(20000x20000x4 28800x7200x4 7200x28800x4 16000x25600x4 25600x16000x4 20000x5000x4 5000x20000x4
    19997x20011x4 30011x10007x4 10007x30011x4
    7200x1800x4 5100x2500x4 4000x3200x4 3300x3900x4 2500x5100x4 1800x7200x4
    100000000x3x4 100000000x8x4 50000000x19x4 3x100000000x4 8x100000000x4 19x50000000x4
    20000x20000x8 28800x7200x8 16000x25600x8 20000x5000x8 5000x20000x8 19997x20011x8 30011x10007x8
    7200x1800x8 5100x2500x8 4000x3200x8 3300x3900x8 2500x5100x8 1800x7200x8
    100000000x3x8 100000000x8x8 50000000x19x8)

search() {
    RESTRIDE_WISDOM='' "$build/bin/restride-lab" tune --engine cuda --goal --shape "$(IFS=, && echo "${matrices[*]}")"
}

table() {
    "$tests/measure_cuda" --copy 4294967296 --copy 52000000 "${matrices[@]}" \
        20000x5000x1 20000x5000x2 20000x5000x16 20000x5000x12 \
        16x7200x1800x4 4x4000x3200x4 64x1000x3200x4 3200x2000x8 1600x2000x16 5000x5000x2 7000x7000x1 3001x4001x4
}

for step in "${steps[@]}"; do
    echo "== $step"
    "$step" || failures+=("$step")
done
for failure in "${failures[@]}"; do
    echo "failed: $failure"
done
[ ${#failures[@]} -eq 0 ] && echo "all held"
