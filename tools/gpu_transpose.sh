#!/usr/bin/env bash
# usage: tools/gpu_transpose.sh [--build FOLDER] [--device NAME] [--count N] [--only TEXT] [STEP]...
# Checks and times in-place transposition on a GPU, from a built tree. STEP is any of
#   tests   byte by byte against the definition, N generated shapes of each kind (2000); permutations and conversions
#   repeat  plans that follow cycles, a thousand times each on the same input: never a wrong element; with TEXT those
#           alone that have it in their method or shape
#   huge    more than 2^32 elements, verified on the device
#   tensors permutations of axes, verified, beside the copy
#   search  the planner's choice against a search: within 10 % of the best
#   plans   the time of making a plan beside that of a run, without wisdom and with it
#   table   the shapes of lab/docs/performance.md, every element verified, beside the copy
# and all of them when none is named. The exit status is 0 when everything held.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

build=build
device=NVIDIA
count=2000
only=
steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --device) device=${2:?} && shift ;;
    --count) count=${2:?} && shift ;;
    --only) only=${2:?} && shift ;;
    tests | repeat | huge | plans | table | tensors | search) steps+=("$1") ;;
    *)
        sed -n '2,12s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || steps=(tests repeat huge plans table tensors search)
export RESTRIDE_TEST_DEVICE=$device RESTRIDE_LOG=${RESTRIDE_LOG:-error}
failures=()

# check NAME COMMAND... : a test that found no device is a failure here.
check() {
    local name=$1
    shift
    echo "== $name"
    "$@" || failures+=("$name")
}

shapes=(20000x20000:4 14400x14400:8
    7200x1800:4 5100x2500:4 4000x3200:4 3300x3900:4 2500x5100:4 1800x7200:4
    28800x7200:4 7200x28800:4 16000x25600:4 25600x16000:4 20000x5000:4 5000x20000:4
    19997x20011:4 20011x19997:4 30011x10007:4 10007x30011:4
    100000000x3:4 100000000x8:4 50000000x19:4 3x100000000:4 8x100000000:4 19x50000000:4
    28800x7200:8 16000x25600:8 20000x5000:8 19997x20011:8 30011x10007:8 100000000x8:8 50000000x19:8
    7200x1800:8 5100x2500:8 4000x3200:8 3300x3900:8 2500x5100:8 1800x7200:8 14400x7200:8 14011x10007:8
    7200x28800:1 7200x14400:2 7200x7200:16 7200x7200:12 7216x3208:4)
single=("${shapes[@]}")
shapes+=(32x8x1000000:4)
tensors=(600x500x400:0x2x1:4 600x500x400:1x0x2:4 600x500x400:1x2x0:4 600x500x400:2x0x1:4 600x500x400:2x1x0:4
    512x512x384:2x1x0:4 100x80x120x100:3x2x1x0:4 100x80x120x100:1x0x3x2:4 100x80x120x100:2x3x0x1:4
    40x40x40x40x40:4x3x2x1x0:4 40x40x40x40x40:2x4x1x3x0:4 101x103x107x97:3x0x2x1:4 600x500x200:2x1x0:8
    16x24x20x18x22x25:5x3x1x0x2x4:4)

# Methods and their shapes.
repeated=('direct=1800x450:64' 'direct=1800x7200:4' 'tiles 210!=1800x7200:4'
    '2-stage 010! 100!=7200x1800:4' '2-stage 010! 100!=7201x1800:4'
    '2-stage 100! 010!=1800x7200:4' '2-stage 100! 010!=1800x7201:4' '2-stage squares 100!=7200x1800:4'
    '2-stage 100! squares=1800x7200:4' '3-stage 100! 0010! 0100!=7200x1800:4' '3-stage 0100! 0010! 100!=7200x1800:4'
    '4-stage 0100! 0010! 1000! 0100!=7200x1800:4' '4-stage fused=7200x1800:4' '3-stage PTTWAC=7200x1800:4'
    '3-stage PTTWAC=1800x7200:8' '3-stage PTTWAC packed=7200x1800:4' '3-stage PTTWAC remapped=7200x1800:4'
    '3-stage P-IPT=1800x720:4' 'PTTWAC=1800x450:64' 'P-IPT=180x450:64' 'C2R in panels=7201x1800:4'
    'R2C in panels=7200x1801:4' 'pad-square-unpad=2003x2011:1' 'pad-square-unpad=2011x2003:4')
again=1000
huge=("$build/tests/engine/test_transpose_opencl" huge)

# SMALL=yes tries the steps out: on a CPU the others take hours.
if [ -n "${SMALL:-}" ]; then
    shapes=(720x180:4 201x199:4)
    single=("${shapes[@]}")
    tensors=(60x50x40:0x2x1:4)
    repeated=('direct=180x45:64' 'tiles 210!=180x72:4' '3-stage PTTWAC=720x180:4' 'P-IPT=18x45:64')
    again=3
    unset RESTRIDE_TEST_DEVICE
    huge=("$build/tests/engine/time_transpose" 180x45:64)
fi

repeat() {
    local plan plans=()
    for plan in "${repeated[@]}"; do
        [[ $plan != *"$only"* ]] || plans+=(--method "${plan%=*}" "${plan#*=}")
    done
    [ ${#plans[@]} -gt 0 ] || { echo "no plan has \"$only\" in it" && return 1; }
    "$build/tests/engine/time_transpose" --again $again "${plans[@]}"
}

search() {
    local shapes
    shapes=$(IFS=, && echo "${single[*]/:/x}")
    RESTRIDE_WISDOM='' "$build/bin/restride-lab" tune --engine opencl --goal --shape "$shapes" \
        ${RESTRIDE_TEST_DEVICE:+--device "$RESTRIDE_TEST_DEVICE"}
}

for step in "${steps[@]}"; do
    case $step in
    tests) check "transposition, byte by byte" "$build/tests/engine/test_transpose_opencl" all "$count" &&
        check "permutations and conversions" "$build/tests/engine/test_device_opencl" 1 "$((count / 4))" ;;
    tensors) check "tensors" "$build/tests/engine/time_permute" opencl "${tensors[@]}" ;;
    search) check "choice" search ;;
    repeat) check "repetition" repeat ;;
    plans) check "plans" tools/gpu_plans.sh "$build" opencl "$device" ;;
    huge) check "more than 2^32 elements" "${huge[@]}" ;;
    table) check "speed" "$build/tests/engine/time_transpose" "${shapes[@]}" ;;
    esac
done
for failure in "${failures[@]}"; do
    echo "failed: $failure"
done
[ ${#failures[@]} -eq 0 ] && echo "all held"
