#!/usr/bin/env bash
# usage: tools/gpu_layer_cuda.sh [--build FOLDER] [--compile]
# A CUDA program on a GPU, plainly and under `restride run`: the same bytes, which launches used second forms, the seconds of
# its kernels, and the nanoseconds of a launch that has nothing to gain. nvcc builds it with the static and the shared
# run-time library, and with default streams of each thread. FOLDER (default: build) is built here where it is missing. With
# --compile nothing is run. Ends with status 77 where there is no nvcc; 0 when all bytes were the same.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

build=build
compile=false
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --compile) compile=true ;;
    *)
        sed -n '2,6s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
. tools/gpu_layer.sh
export XDG_CACHE_HOME=$work/cache RESTRIDE_WISDOM=
sources=tests/layer/cuda/gpu
"${CC:-cc}" -c "$sources/forms.c" -o "$work/forms.o" || exit 1
declare -A flags=([static]="-cudart static" [shared]="-cudart shared" [threads]="-default-stream per-thread")
for kind in static shared threads; do
    # shellcheck disable=SC2086 # several words
    nvcc -std=c++17 -O2 -arch=$architecture ${flags[$kind]} "$sources/program.cu" "$work/forms.o" -o "$work/$kind" || exit 1
done
echo "gpu_layer_cuda: nvcc has built the programs"
! $compile || exit 0

failed=0
rows=$work/rows
echo "program records steps policy bytes kernels_s whole_s launch_ns launches second conversions" >"$rows"

# number KEY: of the report.
number() {
    python3 - "$work/report.json" "$1" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
kernels = report["kernels"]
print({"launches": sum(k["launches"] for k in kernels), "second": sum(k["transformed_launches"] for k in kernels),
       "conversions": report["marshal"]["count"]}[sys.argv[2]])
END
}

# run KIND RECORDS STEPS POLICY: a line of the table. A report takes the time of every launch, so there is a run without.
run() {
    local kind=$1 records=$2 steps=$3 policy=$4 said bytes=same counts="- - -"
    if [ "$policy" = plain ]; then
        said=$("$work/$kind" "$records" "$steps" "$work/plain.bin") || bytes=FAILED
    else
        local followed=("$restride" run "${only[@]}" --policy "$policy")
        rm -f "$work/report.json"
        "${followed[@]}" --report "$work/report.json" -- "$work/$kind" "$records" "$steps" "$work/run.bin" 2>"$work/summary" >"$work/said" ||
            bytes=FAILED
        cmp -s "$work/plain.bin" "$work/run.bin" || bytes=OTHER
        said=$("${followed[@]}" --quiet -- "$work/$kind" "$records" "$steps" "$work/run.bin" 2>&1) || bytes=FAILED
        cmp -s "$work/plain.bin" "$work/run.bin" || bytes=OTHER
        [ ! -r "$work/report.json" ] || counts="$(number launches) $(number second) $(number conversions)"
        [ $bytes = same ] && [ "$policy" != asta ] || cat "$work/said" "$work/summary"
    fi
    [ $bytes = same ] || { failed=1 && echo "$kind, $policy: $said" && said="- - -"; }
    echo "$kind $records $steps $policy $bytes $said $counts" >>"$rows"
}

for kind in static shared threads; do
    for policy in plain off asta auto; do
        run $kind 1000003 200 $policy
    done
done
for policy in plain asta auto; do
    run static 16000000 300 $policy
done
echo
awk '{ printf "%-8s %9s %6s %-7s %-7s %10s %10s %10s %9s %7s %12s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 }' "$rows"
[ $failed = 0 ] && echo "gpu_layer_cuda: all bytes were the same" || echo "gpu_layer_cuda: FAILED"
exit $failed
